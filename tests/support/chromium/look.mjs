// Opens a page in headless Chromium: what it holds, what was asked of the network, and what it said, as JSON.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [file, scheme] = process.argv.slice(2);
const executablePath = await chromium.executablePath();
const browser = await puppeteer.launch({ args: chromium.args, executablePath, headless: "shell" });
try {
  const page = await browser.newPage();
  const said = [], asked = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("dialog", (dialog) => { said.push(dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => asked.push(request.url()));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(`file://${file}`);
  const millis = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  await page.waitForSelector("#list > details[open] p");
  const first = await page.evaluate(() => document.querySelectorAll("#list > details[open]").length);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector("#list > details[open]"));
  await page.keyboard.press("Enter");
  await page.waitForSelector("#list > details[open] p");
  const look = () => page.evaluate(() => ({
    count: document.getElementById("count").textContent,
    opened: document.querySelector("#list details[open]")?.innerText ?? "",
    pictures: document.querySelectorAll("#list .lanes").length,
    scripts: document.scripts.length,
    back: getComputedStyle(document.body).backgroundColor,
    ran: window.ran ?? false,
  }));
  const before = await look();
  const grid = await page.evaluate(() => {
    const cells = [...document.querySelectorAll("#matrix button.cell")];
    cells[0].focus();
    return [cells.length, cells.filter((cell) => cell.tabIndex === 0).length];
  });
  await page.keyboard.press("ArrowRight");
  const moved = await page.evaluate(() => [...document.querySelectorAll("#matrix button.cell")].indexOf(document.activeElement));
  await page.keyboard.press("Enter");
  const panel = await page.evaluate(() => document.querySelector("#matrix .panel")?.innerText ?? "");
  await page.evaluate(() => document.activeElement.blur());
  const wide = [], cut = [];
  for (const width of [1280, 400]) {
    await page.setViewport({ width, height: 800 });
    wide.push(await page.evaluate(() => document.documentElement.scrollWidth));
    cut.push(await page.evaluate(() => [...document.querySelectorAll(".facts .scroll")].filter((box) => box.scrollWidth > box.clientWidth).length));
  }
  await page.keyboard.press("/");
  await page.keyboard.type("nothing-is-called-so");
  const after = await look();
  await page.keyboard.press("Escape");
  const again = await look();
  console.log(JSON.stringify({ ...before, first, grid, moved, panel, wide, cut, millis, filtered: after.count, again: again.count, said, asked }));
} finally {
  await browser.close();
}
