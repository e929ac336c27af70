// Opens the generated reports from file:// in a headless chromium and checks what a reader would see.
// node report_page.mjs FOLDER: FOLDER holds partitioned/, simulated/, swept/ and hostile/, each written by
// gpusonde_report_sample. Exit 77 (skipped) where playwright-core or chromium is missing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const skipped = (why) => { console.log(`skipped: ${why}`); process.exit(77); };

const { chromium } = await import('playwright-core').catch(() => skipped('playwright-core is not installed; run npm ci in tests/report_page'));
const browserPath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => path && existsSync(path));
if (!browserPath) skipped('no chromium; install the package chromium or set CHROMIUM');

const folder = resolve(process.argv[2] ?? '.');
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/// A page with everything noted that it asked for or complained about.
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  const page = await context.newPage();
  const noted = { requests: [], errors: [], dialogs: 0 };
  page.on('request', (request) => noted.requests.push(request.url()));
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) noted.errors.push(message.text()); });
  page.on('pageerror', (error) => noted.errors.push(String(error)));
  page.on('dialog', (dialog) => { ++noted.dialogs; dialog.dismiss(); });
  await page.goto(pathToFileURL(join(folder, name, 'report.html')).href);
  const run = JSON.parse(readFileSync(join(folder, name, 'run.json'), 'utf8'));
  return { page, noted, run, close: () => context.close() };
}

function assertQuiet(noted) {
  assert.deepEqual(noted.errors, [], 'console errors');
  assert.deepEqual(noted.requests.filter((url) => !url.startsWith('file:') && url !== 'data:,'), [], 'requests');
  assert.equal(noted.requests.filter((url) => url.startsWith('file:')).length, 1, 'files beside the page are not asked for');
  assert.equal(noted.dialogs, 0, 'no script of the run runs');
}

/// Sizes of a curve in run.json: what should be drawn.
function sizes(run, policy, chain) {
  const table = run.measurements['latency.curve'];
  return new Set(table.size_bytes.filter((_, i) => table.policy[i] === policy && table.chain[i] === chain)).size;
}

const ticks = (page, plot, axis) => page.locator(`#plot-${plot} .${axis}-axis .tick text`).allTextContents();

const tests = {
  async 'curves are drawn point by point'() {
    const { page, noted, run, close } = await open('partitioned');
    await page.waitForSelector('html[data-ready]');
    const drawn = async (plot, chain) => page.locator(`#plot-${plot} .series[data-chain="${chain}"] .dot`).count();
    assert.equal(await drawn(0, 'pointer'), sizes(run, 'ca', 'pointer'));
    assert.equal(await drawn(0, 'index'), sizes(run, 'ca', 'index'));
    assert.equal(await drawn(1, 'pointer'), sizes(run, 'cg', 'pointer'));
    assert.ok(sizes(run, 'ca', 'pointer') > 100);
    const names = await page.locator('#plot-0 .level-name').allTextContents();
    assert.deepEqual(names, ['DRAM', 'L2 far', 'L2 near', 'L1']);
    assert.equal(await page.locator('#plot-2 svg .bar').count(), 7, 'six splits and the legend');
    assertQuiet(noted);
    await close();
  },

  async 'a curve rises from left to right and bottom to top'() {
    const { page, close } = await open('simulated');
    const at = await page.locator('#plot-0 .series .dot').evaluateAll((dots) =>
      [dots[0], dots[dots.length - 1]].map((dot) => [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))]));
    assert.ok(at[1][0] > at[0][0] + 500 && at[1][1] < at[0][1] - 100, JSON.stringify(at));
    await close();
  },

  async 'pointing shows the value'() {
    const { page, noted, run, close } = await open('partitioned');
    await page.locator('#plot-0 svg').scrollIntoViewIfNeeded();
    const box = await page.locator('#plot-0 .series[data-chain="pointer"] .dot').nth(20).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const text = await page.locator('#plot-0 .readout').textContent();
    const bytes = run.measurements['latency.curve'].size_bytes[20];
    assert.match(text, new RegExp(`\\(${bytes} B\\): pointer ${run.measurements['latency.curve'].latency_cycles[20].toFixed(2)} cycles`));
    assert.match(text, /index 3[78]\.\d\d cycles/);
    assert.match(text, /= 16\.\d\d ns, serial warm-up/);
    assertQuiet(noted);
    await close();
  },

  async 'the wheel zooms, dragging pans, reset goes back'() {
    const { page, close } = await open('partitioned');
    const before = await ticks(page, 0, 'x');
    assert.deepEqual([before[0], before.at(-1)], ['4 KiB', '1 GiB']);
    await page.locator('#plot-0 svg').scrollIntoViewIfNeeded();
    const box = await page.locator('#plot-0 svg').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -600);
    await page.waitForFunction((old) => document.querySelector('#plot-0 .x-axis .tick text').textContent !== old, before[0]);
    const zoomed = await ticks(page, 0, 'x');
    assert.notDeepEqual(zoomed, before);
    assert.ok(zoomed.length >= 3, 'a zoomed axis keeps its ticks');
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 200, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    assert.notDeepEqual(await ticks(page, 0, 'x'), zoomed);
    await page.locator('#plot-0 [data-control="reset"]').click();
    assert.deepEqual(await ticks(page, 0, 'x'), before);
    await close();
  },

  async 'deep zoom keeps ticks on both axes'() {
    const { page, close } = await open('partitioned');
    for (let i = 0; i < 12; ++i) await page.locator('#plot-0 [data-control="zoom-in"]').click();
    assert.ok((await ticks(page, 0, 'x')).length >= 2);
    assert.ok((await ticks(page, 0, 'y')).length >= 2);
    await close();
  },

  async 'axes switch to linear and to nanoseconds'() {
    const { page, close } = await open('partitioned');
    const log = await ticks(page, 0, 'y');
    await page.locator('#plot-0 [data-control="y-log"]').click();
    const linear = (await ticks(page, 0, 'y')).map(Number);
    assert.notDeepEqual(linear.map(String), log);
    assert.equal(linear[0], 0);
    const steps = linear.slice(1).map((value, i) => value - linear[i]);
    assert.ok(steps.every((step) => step === steps[0]), `even steps: ${linear}`);
    await page.locator('#plot-0 [data-control="x-log"]').click();
    assert.equal((await ticks(page, 0, 'x'))[0], '0 B');
    await page.locator('#plot-0 [data-control="unit"]').click();
    assert.ok(Number((await ticks(page, 0, 'y')).at(-1)) < linear.at(-1), 'nanoseconds are fewer than cycles at 1.98 GHz');
    await page.locator('#plot-0 [data-control="chain-1"]').click();
    assert.equal(await page.locator('#plot-0 .series').count(), 1);
    await close();
  },

  async 'the keyboard reads, zooms and resets'() {
    const { page, run, close } = await open('simulated');
    await page.locator('#plot-0 svg').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const table = run.measurements['latency.curve'];
    assert.match(await page.locator('#plot-0 .readout').textContent(), new RegExp(`\\(${table.size_bytes[1]} B\\)`));
    const before = await ticks(page, 0, 'x');
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    assert.notDeepEqual(await ticks(page, 0, 'x'), before);
    await page.keyboard.press('0');
    assert.deepEqual(await ticks(page, 0, 'x'), before);
    await close();
  },

  async 'a sweep is drawn point by point, a line a stride'() {
    const { page, noted, run, close } = await open('swept');
    await page.waitForSelector('html[data-ready]');
    const table = run.measurements['tlb.sweep'];
    for (const [plot, policy] of [[0, 'cg'], [1, 'ca']]) {
      for (const mib of [1, 2, 4, 8, 16]) {
        const wanted = table.nodes.filter((_, i) => table.policy[i] === policy && table.stride_bytes[i] === mib * 2 ** 20).length;
        assert.equal(await page.locator(`#plot-${plot} .series[data-stride="${mib} MiB"] .point`).count(), wanted, `${policy} ${mib} MiB`);
      }
      assert.deepEqual((await page.locator(`#plot-${plot} .line-name`).allTextContents()).length, 5);
    }
    assert.equal(await page.locator('#plot-2 .predicted').count(), 2);
    assert.equal(await page.locator('#plot-2 input[type=radio]').count(), 0, 'penalties are over nodes alone');
    assertQuiet(noted);
    await close();
  },

  async 'the switch changes the axis of a sweep, by pointer and by keyboard'() {
    const { page, noted, close } = await open('swept');
    const title = () => page.locator('#plot-0 .x-title').textContent();
    const places = (stride) => page.locator(`#plot-0 .series[data-stride="${stride}"] .point`).evaluateAll((points) =>
      points.map((point) => point.getAttribute('transform').match(/[-.\d]+/g).slice(0, 2).map(Number)));
    assert.match(await title(), /^working set/);
    assert.deepEqual((await ticks(page, 0, 'x')).slice(0, 2), ['1 MiB', '4 MiB']);
    const [one, sixteen] = [await places('1 MiB'), await places('16 MiB')];
    assert.ok(sixteen[0][0] > one[0][0] + 100, '16 MiB is further right than 1 MiB');
    assert.deepEqual(await page.locator('#plot-0 .steptext').allTextContents(),
      ['32 MiB', '512 MiB', '64 MiB', '1 GiB', '128 MiB', '2 GiB', '256 MiB', '4 GiB']);

    await page.locator('#plot-0 label', { hasText: /^nodes$/ }).click();
    assert.match(await title(), /^nodes/);
    assert.deepEqual((await ticks(page, 0, 'x')).slice(0, 3), ['1', '2', '4']);
    const byNodes = await places('16 MiB');
    assert.notDeepEqual(byNodes, sixteen);
    assert.deepEqual(byNodes.map(([x]) => x), (await places('1 MiB')).map(([x]) => x), 'the same nodes, the same place');
    assert.deepEqual(byNodes.map(([, y]) => y), sixteen.map(([, y]) => y), 'only the horizontal axis changes');
    assert.deepEqual((await page.locator('#plot-0 .steptext').allTextContents()).sort(), ['16', '256', '32', '512']);
    assert.match(await page.locator('#plot-1 .x-title').textContent(), /^working set/, 'each plot has a switch of its own');

    await page.locator('#plot-0 input[value="nodes"]').focus();
    await page.keyboard.press('ArrowLeft');
    assert.match(await title(), /^working set/);
    assert.deepEqual(await places('16 MiB'), sixteen);
    assertQuiet(noted);
    await close();
  },

  async 'a sweep zooms, hides lines, and is read by keyboard'() {
    const { page, run, close } = await open('swept');
    const before = await ticks(page, 0, 'x');
    await page.locator('#plot-0 svg.live').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const table = run.measurements['tlb.sweep'];
    assert.equal(await page.locator('#plot-0 .readout').textContent().then((text) => text.split(' [')[0]),
      `stride 1 MiB, 2 nodes, 2 MiB: ${table.cycles_per_access[1].toFixed(2)} cycles`);
    await page.keyboard.press('ArrowUp');
    assert.match(await page.locator('#plot-0 .readout').textContent(), /^stride 2 MiB, 1 node, 2 MiB: /);
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    assert.notDeepEqual(await ticks(page, 0, 'x'), before);
    await page.keyboard.press('0');
    assert.deepEqual(await ticks(page, 0, 'x'), before);
    for (let i = 0; i < 12; ++i) await page.locator('#plot-0 [data-control="zoom-in"]').click();
    assert.ok((await ticks(page, 0, 'x')).length >= 2, 'a deep zoom keeps its ticks');
    await page.locator('#plot-0 [data-control="line-1"]').click();
    assert.equal(await page.locator('#plot-0 .series').count(), 4);
    await close();
  },

  async 'every finding is in the table, with its evidence'() {
    const { page, noted, run, close } = await open('simulated');
    const ids = await page.locator('#findings-table tbody th').allTextContents();
    assert.deepEqual(ids, run.findings.map((finding) => finding.id));
    const outcomes = await page.locator('#findings-table .outcome').allTextContents();
    assert.deepEqual(outcomes, run.findings.map((finding) => finding.outcome));
    const row = page.locator('#findings-table tbody tr', { hasText: 'l1.capacity' });
    assert.match(await row.textContent(), /128 KiB.*✓ 128 KiB/);
    assert.match(await page.locator('#findings-table').textContent(), /412 outliers in 20,000 loads; period not separable/);
    const link = page.locator('#findings-table tbody tr').first().locator('a');
    const target = (await link.getAttribute('href')).slice(1);
    assert.equal(await page.locator(`#${target}`).evaluate((details) => details.open), false);
    await link.click();
    await page.waitForFunction((id) => document.getElementById(id).open, target);
    assert.match(await page.locator(`#${target} summary`).textContent(), /clock/);
    assertQuiet(noted);
    await close();
  },

  async 'a CSV link saves the table'() {
    const { page, close } = await open('simulated');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#findings a.csv').click()]);
    assert.equal(download.suggestedFilename(), 'findings.csv');
    assert.equal(readFileSync(await download.path(), 'utf8'), readFileSync(join(folder, 'simulated', 'findings.csv'), 'utf8'));
    await close();
  },

  async 'light and dark both read'() {
    const luminance = (css) => css.match(/\d+(\.\d+)?/g).slice(0, 3)
      .map((v) => Number(v) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
    const grounds = [];
    for (const [name, colorScheme] of ['partitioned', 'simulated'].flatMap((n) => [[n, 'light'], [n, 'dark']])) {
      const { page, close } = await open(name, { colorScheme });
      const colours = await page.evaluate(() => {
        const css = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
        return { ground: css('body', 'backgroundColor'), ink: css('body', 'color'), soft: css('.soft', 'color'),
          plot: css('#plot-0 .ground', 'fill'), label: css('#plot-0 .level-name', 'fill'), tick: css('#plot-0 .x-axis text', 'fill'),
          curve: css('#plot-0 .s0.curve', 'stroke'), edge: css('#plot-0 .edge', 'stroke') };
      });
      for (const text of ['ink', 'soft']) assert.ok(contrast(colours[text], colours.ground) >= 4.5, `${colorScheme} ${text}`);
      for (const text of ['label', 'tick']) assert.ok(contrast(colours[text], colours.plot) >= 4.5, `${colorScheme} ${text}`);
      for (const line of ['curve', 'edge']) assert.ok(contrast(colours[line], colours.plot) >= 3, `${colorScheme} ${line}`);
      grounds.push(luminance(colours.ground));
      await close();
    }
    assert.ok([0, 2].every((i) => grounds[i] > 0.9) && [1, 3].every((i) => grounds[i] < 0.05), String(grounds));
  },

  async 'no text of a plot touches another or leaves it'() {
    for (const name of ['partitioned', 'simulated', 'swept']) {
      for (const javaScriptEnabled of [true, false]) {
        const { page, close } = await open(name, { javaScriptEnabled });
        const clashes = await page.locator('section.plot svg').evaluateAll((plots) => plots.flatMap((svg) => {
          const frame = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll('text')].map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }));
          const out = texts.filter(({ box }) => box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom)
            .map(({ text }) => `outside: ${text}`);
          for (let i = 0; i < texts.length; ++i) {
            for (let k = i + 1; k < texts.length; ++k) {
              const a = texts[i].box, b = texts[k].box;
              const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
              if (wide > 1 && high > 2) out.push(`${texts[i].text} / ${texts[k].text}`);
            }
          }
          return out;
        }));
        assert.deepEqual(clashes, [], `${name}, script ${javaScriptEnabled}`);
        await close();
      }
    }
  },

  async 'without script the static figures and the tables are there'() {
    const { page, noted, run, close } = await open('partitioned', { javaScriptEnabled: false });
    assert.equal(await page.locator('section.plot svg').count(), 3);
    assert.equal(await page.locator('#plot-0 svg circle.s0').count(), sizes(run, 'ca', 'pointer') + 1, 'points and the legend');
    assert.equal(await page.locator('#findings-table tbody tr').count(), run.findings.length);
    assertQuiet(noted);
    await close();
  },

  async 'without script a sweep is a static figure'() {
    const { page, noted, close } = await open('swept', { javaScriptEnabled: false });
    assert.equal(await page.locator('section.plot svg').count(), 3);
    assert.equal(await page.locator('#plot-0 svg polyline.curve').count(), 5);
    assert.equal(await page.locator('#plot-0 .controls').count(), 0);
    assertQuiet(noted);
    await close();
  },

  async 'names that mean harm are shown as text'() {
    const { page, noted, close } = await open('hostile');
    await page.waitForSelector('html[data-ready]');
    assert.match(await page.locator('h1').textContent(), /<\/script><img src=x onerror="alert\(1\)">&'/);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), 3);
    assertQuiet(noted);
    await close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed`);
process.exit(failed ? 1 : 0);
