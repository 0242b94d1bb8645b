"""The pages of the site: the Markdown files of the checkout as they stand, and a page a rule made from its parts."""
