/** Follows the README's first sign-in and the guide to the shop block by block, in a shell and in a browser. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY, cleanEnvironment, databaseCode, eventually, freePort } from '../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../support/browser.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

// A folder of this file alone: it must outlive its server.
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-readme-'));
const processes: Bun.Subprocess[] = [];
afterAll(async () => {
  closeBrowser();
  for (const child of processes) child.kill('SIGTERM');
  await Promise.all(processes.map((child) => child.exited));
  rmSync(folder, { recursive: true, force: true });
});

const OWNER = 'you@example.com';
const CUSTOMER = 'ada@example.com';
const address = `http://localhost:${freePort()}`;
const shop = `http://localhost:${freePort()}`;

const ROOT = join(import.meta.dir, '../..');
const readme = await Bun.file(join(ROOT, 'README.md')).text();
const [, signIn = ''] = /\n## First sign-in in a minute\n(.*?)\n## /s.exec(readme) ?? [];
const guide = await Bun.file(join(ROOT, 'src/modules/docs/guides/shop.md')).text();
/** Returns the blocks of a text in a language, with free ports in place of fixed ones. */
const blocksOf = (text: string, language: string) => {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) =>
    block.replaceAll('http://localhost:8080', address).replaceAll('http://localhost:3000', shop),
  );
};

function shell(script: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(['bash', '-c', script], {
    cwd: folder,
    env: cleanEnvironment(env),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  processes.push(child);
  const output = { text: '' };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) output.text += decoder.decode(chunk, { stream: true });
  })();
  return { child, output };
}

/** Returns the newest code that the server mailed to an address. */
const codeFor = (email: string) => databaseCode(join(folder, 'data'), email);

test('the first sign-in, and the shop with its page, backend and webhook', async () => {
  symlinkSync(BINARY, join(folder, 'gatehouse'));
  const [start = '', ...minute] = blocksOf(signIn, 'sh');
  const [source = ''] = blocksOf(guide, 'js');
  const shopBlocks = blocksOf(guide, 'sh');
  writeFileSync(join(folder, 'shop.mjs'), source);

  const server = shell(start.replace('./gatehouse serve', 'exec ./gatehouse serve'), {
    GATEHOUSE_PORT: new URL(address).port,
  });
  await eventually('the server runs', () => server.output.text.includes(`running at ${address}`));
  const second = shell([...minute, ...shopBlocks].join('\n').replace(/^node /m, 'exec node '), {
    PORT: new URL(shop).port,
  });
  await eventually('the code is asked for', () => second.output.text.includes('Code from the first terminal: '));
  await eventually('the code is printed', () => server.output.text.includes(codeFor(OWNER)));
  second.child.stdin.write(`${codeFor(OWNER)}\n`);
  await eventually('the verdict', () => second.output.text.includes(`"email":"${OWNER}"`));
  await eventually('the shop answers', () => fetch(shop).catch(() => null));

  const page = await openBrowserPage();
  await page.open(shop);
  await page.untilText('p', /^nobody$/);
  await leaving(page, () => page.view.click('button'));
  await page.untilFocused('email');
  await page.fill('#email', CUSTOMER);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await leaving(page, () => page.pressKeys(codeFor(CUSTOMER)));
  await page.untilText('p', /^ada@example\.com: user$/);
  expect((await page.address()).href).toBe(`${shop}/`);
  await eventually('the shop is told', () => /user\.signed_in usr_\w+$/m.test(second.output.text));
  page.close();

  // A token from a sign-in that another browser began.
  const stranger = await openBrowserPage();
  await stranger.open(`${shop}/?state=1#token=est_0`);
  await stranger.untilText('p', /^nobody$/);
  expect(await stranger.evaluate('sessionStorage.getItem("token")')).toBeNull();
  stranger.close();

  const forged = await fetch(`${shop}/hook`, { method: 'POST', body: '{}', headers: { 'svc-signature': 't=1,v1=00' } });
  expect(forged.status).toBe(401);
});
