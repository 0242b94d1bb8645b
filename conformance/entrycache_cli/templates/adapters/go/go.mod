module mycache

go 1.22
