/**
 * Time and memory of an upload to the compiled binary: photos, the largest allowed files, hostile files, and
 * concurrent uploads; each on a fresh server. Linux only: peaks are read from /proc.
 * Usage: bun test/bench/images.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { flatPng, hugePng, jpeg, stripedPng, webp, withExif } from '../modules/images/pictures.ts';
import { type EphemeralServer, signIn, startEphemeral } from '../support/binary.ts';

interface Scenario {
  readonly name: string;
  readonly kind: 'avatar' | 'banner';
  readonly type: string;
  readonly file: Buffer;
  /** The number of concurrent uploads, and of people; 1 by default. */
  readonly atOnce?: number;
  readonly people?: number;
}

/** A picture like a camera's: gradients with a little noise. */
function photo(width: number, height: number, noise: number): Buffer {
  let seed = 1;
  const rowLength = width * 3;
  const pixels = Buffer.alloc(54 + rowLength * height);
  pixels.write('BM');
  pixels.writeUInt32LE(pixels.length, 2);
  pixels.writeUInt32LE(54, 10);
  pixels.writeUInt32LE(40, 14);
  pixels.writeInt32LE(width, 18);
  pixels.writeInt32LE(height, 22);
  pixels.writeUInt16LE(1, 26);
  pixels.writeUInt16LE(24, 28);
  for (let y = 0, at = 54; y < height; y += 1)
    for (let x = 0; x < width; x += 1, at += 3) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      pixels[at] = ((x * 200) / width + ((seed >>> 24) * noise) / 256) & 255;
      pixels[at + 1] = ((y * 200) / height + ((seed >>> 16) & 255) * (noise / 256)) & 255;
      pixels[at + 2] = ((x + y) / 40 + ((seed >>> 8) & 255) * (noise / 256)) & 255;
    }
  return pixels;
}

const MIB = 1024 * 1024;

/** Resident memory and its peak since the last reset, in MiB. */
function memoryOf({ process: { pid } }: EphemeralServer) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) / 1024);
  return { residentMiB: read('VmRSS'), peakMiB: read('VmHWM') };
}

async function measure({ name, kind, type, file, atOnce = 1, people = 1 }: Scenario): Promise<void> {
  const server = await startEphemeral();
  const tokens: string[] = [];
  for (let person = 0; person < people; person += 1)
    tokens.push((await signIn(server, `p${person}@example.com`, server.clientId)).token);
  const put = async (index: number) => {
    const startedAt = performance.now();
    const response = await fetch(`${server.url}/api/account/self/images/${kind}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${tokens[index % people]}`, 'content-type': type },
      body: new Uint8Array(file),
    });
    await response.text();
    return { status: response.status, ms: performance.now() - startedAt };
  };
  await Bun.sleep(500);
  writeFileSync(`/proc/${server.process.pid}/clear_refs`, '5');
  const before = memoryOf(server);
  let isRunning = true;
  let slowestMs = 0;
  const others = (async () => {
    while (isRunning) {
      const startedAt = performance.now();
      await fetch(`${server.url}/healthz`).then((response) => response.text());
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      await Bun.sleep(2);
    }
  })();
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, index) => put(index)));
  isRunning = false;
  await others;
  const { peakMiB } = memoryOf(server);
  await Bun.sleep(2000);
  const after = memoryOf(server);
  const statuses = Object.entries(Object.groupBy(answers, ({ status }) => status));
  console.log(
    JSON.stringify({
      name,
      kind,
      fileMiB: Math.round((file.length / MIB) * 10) / 10,
      answers: Object.fromEntries(statuses.map(([status, list]) => [status, list!.length])),
      slowestMs: Math.round(Math.max(...answers.map(({ ms }) => ms))),
      rssBeforeMiB: before.residentMiB,
      rssPeakMiB: peakMiB,
      addedMiB: peakMiB - before.residentMiB,
      rssAfterMiB: after.residentMiB,
      slowestOtherRequestMs: Math.round(slowestMs),
    }),
  );
  await server.stop();
}

const photo12 = photo(4000, 3000, 24);
const photo24 = photo(5712, 4284, 16);
const noise12 = withExif(await jpeg(photo(4032, 3024, 256), { quality: 80 }), 6);
const striped = (width: number, height: number) => stripedPng(width, height, (y) => [y & 255, 0, 0]);
/** The largest accepted file of each kind: decoded whole, held twice, held in all its scans, and reduced. */
const clear16 = stripedPng(3456, 4608, (y) => [y & 255, 0, 0, 200], { hasAlpha: true });
const lossless16 = await webp(clear16, { lossless: true });
const progressive16 = fullColoured(await jpeg(flatPng(3456, 4608), { quality: 85, progressive: true }));
const photo50 = await jpeg(flatPng(8160, 6120), { quality: 85 });

/** A progressive JPEG whose header claims full-resolution chroma, which takes twice the memory. */
function fullColoured(file: Buffer): Buffer {
  file.writeUInt8(0x11, file.indexOf(Buffer.from([0xff, 0xc2])) + 11);
  return file;
}

const pictures = [
  { name: '12 megapixels, JPEG', type: 'image/jpeg', file: await jpeg(photo12, { quality: 90 }) },
  { name: '12 megapixels, PNG', type: 'image/png', file: striped(4000, 3000) },
  { name: '12 megapixels, WebP', type: 'image/webp', file: await webp(photo12, { quality: 90 }) },
  { name: '12 megapixels, progressive JPEG', type: 'image/jpeg', file: await jpeg(photo12, { progressive: true }) },
  { name: '12 megapixels of noise, JPEG, turned', type: 'image/jpeg', file: noise12 },
  { name: '24 megapixels, JPEG, turned', type: 'image/jpeg', file: withExif(await jpeg(photo24, { quality: 88 }), 6) },
  { name: '24 megapixels, PNG', type: 'image/png', file: striped(5712, 4284) },
  { name: '24 megapixels, WebP', type: 'image/webp', file: await webp(photo24, { quality: 88 }) },
  { name: '16 megapixels, PNG with alpha', type: 'image/png', file: clear16 },
  { name: '16 megapixels, WebP without loss', type: 'image/webp', file: lossless16 },
  { name: '16 megapixels, progressive JPEG', type: 'image/jpeg', file: progressive16 },
  { name: '50 megapixels, JPEG, turned', type: 'image/jpeg', file: withExif(photo50, 6) },
];

const scenarios: Scenario[] = [
  ...(['avatar', 'banner'] as const).flatMap((kind) => pictures.map((picture) => ({ ...picture, kind }))),
  { name: 'hostile: 16384 × 16384, PNG', kind: 'banner', type: 'image/png', file: hugePng() },
  ...pictures
    .filter(({ file }) => [noise12, clear16, lossless16, progressive16].includes(file))
    .map(({ name, type, file }) => ({
      name: `40 at once of 10 people, ${name}`,
      kind: 'banner' as const,
      type,
      file,
      atOnce: 40,
      people: 10,
    })),
  {
    name: 'hostile: 40 at once of 10 people, 11 MiB',
    kind: 'banner',
    type: 'image/png',
    file: Buffer.concat([clear16, Buffer.alloc(11 * MIB - clear16.length)]),
    atOnce: 40,
    people: 10,
  },
  {
    name: 'hostile: 40 at once of 10 people, 10 MiB behind the picture',
    kind: 'banner',
    type: 'image/jpeg',
    file: Buffer.concat([noise12, Buffer.alloc(10 * MIB - noise12.length)]),
    atOnce: 40,
    people: 10,
  },
];

const only = process.argv[2];
for (const scenario of scenarios) if (!only || scenario.name.includes(only)) await measure(scenario);
