/** Uploads pictures as programs and browsers send them, and fetches them. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { flatPng, hugePng, jpeg, png, RED, webp, withExif } from '../modules/images/pictures.ts';
import { emptyFolder, type EphemeralServer, request, signIn, startEphemeral, startServer } from '../support/binary.ts';

// Pictures of many megapixels are slow to make.
setDefaultTimeout(240_000);

const MIB = 1024 * 1024;
const ADDRESS = '/api/account/self/images/avatar';

async function put(server: { url: string }, token: string, body: BodyInit, type?: string, path = ADDRESS) {
  const response = await fetch(`${server.url}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) },
    body,
  });
  // biome-ignore lint: each test checks the answer it asked for.
  return { status: response.status, headers: response.headers, json: (await response.json()) as any };
}

const person = async (server: EphemeralServer, email: string) => (await signIn(server, email, server.clientId)).token;
const bodyOf = (file: Buffer) => new Uint8Array(file);

test('every format is accepted, raw or in a form, and served from the database after a restart', async () => {
  const folder = emptyFolder();
  let server = await startServer(folder.path, { GATEHOUSE_OWNER_EMAIL: 'owner@example.com' });
  const { token } = await signIn(server, 'owner@example.com', 'console');
  const picture = png(300, 200, () => RED);
  for (const [file, type] of [
    [picture, 'image/png'],
    [await jpeg(picture), 'image/jpeg'],
    [await webp(picture), 'image/webp'],
  ] as const)
    expect((await put(server, token, bodyOf(file), type)).status).toBe(200);
  const form = new FormData();
  form.append('file', new Blob([bodyOf(withExif(await jpeg(picture), 6))], { type: 'image/jpeg' }), 'me.jpg');
  const { status, json } = await put(server, token, form);
  expect([status, json.data.sizes]).toEqual([200, [128, 256, 1200]]);
  const path = (variant: { url: string }) => new URL(variant.url).pathname + new URL(variant.url).search;
  const before = await Promise.all(
    json.data.variants.map(async (variant: { url: string }) => (await fetch(`${server.url}${path(variant)}`)).bytes()),
  );
  expect(await server.stop()).toBe(0);

  server = await startServer(folder.path);
  for (const [index, variant] of json.data.variants.entries()) {
    const response = await fetch(`${server.url}${path(variant)}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(Number(response.headers.get('content-length'))).toBe(before[index].length);
    expect(await response.bytes()).toEqual(before[index]);
  }
  const head = await fetch(`${server.url}${path(json.data.variants[1])}`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'image/webp', '']);
  await server.stop();
  folder.remove();
});

test('more than 10 MiB is refused, declared or in chunks, and the connection stays usable', async () => {
  const server = await startEphemeral();
  const token = await person(server, 'ada@example.com');
  const large = new Uint8Array(11 * MIB);
  const stream = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < large.length; at += MIB) controller.enqueue(large.subarray(at, at + MIB));
        controller.close();
      },
    });
  for (const body of [large, stream()]) {
    const { status, json } = await put(server, token, body, 'image/png');
    expect([status, json.error, json.message]).toEqual([
      413,
      'payload_too_large',
      'The file is too large; send at most 10 MiB.',
    ]);
  }
  expect((await put(server, token, bodyOf(png(9, 9, () => RED)), 'image/png')).status).toBe(200);
  await server.stop();
});

test('an aborted upload frees its memory for others', async () => {
  const server = await startEphemeral();
  const token = await person(server, 'ada@example.com');
  const { hostname, port } = new URL(server.url);
  const head = `PUT ${ADDRESS} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: image/png\r\nContent-Length: ${10 * MIB}\r\n\r\n`;
  for (let round = 0; round < 6; round += 1) {
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
    socket.write(head);
    socket.write(new Uint8Array(64 * 1024));
    socket.flush();
    await request(server, 'GET', '/healthz');
    socket.terminate();
  }
  const body = bodyOf(png(9, 9, () => RED));
  let status = 0;
  // The server notices the last closed connection a moment later.
  for (let tries = 0; tries < 100 && status !== 200; tries += 1) {
    ({ status } = await put(server, token, body, 'image/png'));
    if (status === 429) break;
  }
  expect(status).toBe(200);
  await server.stop();
});

/** Uploads that are sent at once, and not yet read, are buffered more or less: the lowest of a few peaks tells. */
const ROUNDS = 3;

/** Reads the peak from /proc. */
test.if(process.platform === 'linux')('neither one upload nor many at once add more than 150 MB', async () => {
  const server = await startEphemeral();
  const tokens = await Promise.all(Array.from({ length: 5 }, (_, index) => person(server, `p${index}@example.com`)));
  const { pid } = server.process;
  const memory = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
  const photo = withExif(await jpeg(flatPng(4032, 3024)), 6);
  const files: [Buffer, string][] = [
    [hugePng(), 'image/png'],
    [flatPng(4000, 3000), 'image/png'],
    [photo, 'image/jpeg'],
    [Buffer.concat([photo, Buffer.alloc(10 * MIB - photo.length)]), 'image/jpeg'],
  ];
  const before = memory('VmRSS');

  /** Uploads all files for everybody at once. @returns what the peak is above the memory of before, in MB. */
  async function peakOfUploads(): Promise<number> {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const answers = files.flatMap(([file, type]) =>
      tokens.map((token) => put(server, token, bodyOf(file), type, '/api/account/self/images/banner')),
    );
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 400, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    return (memory('VmHWM') - before) / 1e6;
  }

  let lowest = await peakOfUploads();
  for (let round = 1; round < ROUNDS && lowest >= 150; round += 1) lowest = Math.min(lowest, await peakOfUploads());
  expect(lowest).toBeLessThan(150);
  await server.stop();
});
