/**
 * Runs a mixed load at an even pace and samples the server's memory, descriptors and write-ahead log every five
 * seconds. All must stay flat: growth over time, rather than with data, ends an unattended instance.
 *
 *   bun test/faults/soak.ts [MINUTES]
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { png, RED } from '../modules/images/pictures.ts';
import { emptyFolder, eventually, type HttpAnswer, request, startServer, verifyCode } from '../support/binary.ts';
import { readExposition } from '../support/exposition.ts';
import { startMailServer } from '../support/smtp.ts';
import { setScene } from './scene.ts';

const MIB = 2 ** 20;
/** People who return again and again, so that per-person data stays constant. */
const PEOPLE = 400;
const STREAMS = 20;

/** One sample of the server. */
export interface Sample {
  readonly atSeconds: number;
  /** Private memory; mapped pages of the database belong to the kernel and grow with the data. */
  readonly privateMiB: number;
  readonly residentMiB: number;
  readonly descriptors: number;
  readonly walMiB: number;
  readonly databaseMiB: number;
  readonly changesWaiting: number;
  readonly mailsWaiting: number;
  readonly deliveriesWaiting: number;
  readonly longWorks: number;
}

export type Judged = 'privateMiB' | 'descriptors' | 'walMiB' | 'changesWaiting' | 'mailsWaiting' | 'longWorks';

/**
 * Allowed rise over the second half of the time, by its slope: a tenth of the median, and no less than this. In the
 * first half the instance may fill its caches.
 */
export const ALLOWED_RISE: Readonly<Record<Judged, number>> = {
  privateMiB: 16,
  descriptors: 8,
  walMiB: 8,
  changesWaiting: 50,
  mailsWaiting: 20,
  longWorks: 2,
};

export interface Finding {
  readonly name: Judged;
  readonly median: number;
  readonly rise: number;
  readonly allowed: number;
}

/** Returns the verdict on each figure over the second half. */
export function judged(samples: readonly Sample[]): Finding[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  return (Object.keys(ALLOWED_RISE) as Judged[]).map((name) => {
    const values = half.map((sample) => sample[name]);
    const median = medianOf(values);
    const seconds = half.at(-1)!.atSeconds - half[0]!.atSeconds;
    const rise = slopeOf(half.map((sample) => [sample.atSeconds, sample[name]])) * seconds;
    return { name, median, rise, allowed: Math.max(ALLOWED_RISE[name], median / 10) };
  });
}

/** Returns the median slope of all pairs (Theil and Sen), which single collections and checkpoints do not move. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], at) =>
    points.slice(at + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return medianOf(slopes);
}

const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export interface Soak {
  readonly samples: readonly Sample[];
  readonly findings: readonly Finding[];
  /** Number of runs of each kind of work. */
  readonly done: Readonly<Record<string, number>>;
  /** Unexpected answers. */
  readonly refusals: Readonly<Record<string, number>>;
  /** In seconds: median, 99th percentile, and the worst bucket. */
  readonly loopDelay: { readonly half: number; readonly most: number; readonly worst: number };
  readonly exitCode: number;
}

/** @param pace multiplies the rate of all work; 1 is the modest rate of an hour's run. */
export async function soak(
  seconds: number,
  { everySeconds = 5, pace = 1, tell = (_: string) => {} } = {},
): Promise<Soak> {
  const scratch = emptyFolder();
  const folder = join(scratch.path, 'data');
  const mails = await startMailServer();
  let deliveries = 0;
  // Accepts some deliveries and refuses most: quarantine, retries and redelivery all run.
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(null, { status: (deliveries += 1) % 3 === 0 ? 200 : 500 }),
  });
  const scene = await setScene(folder, { receiverUrl: receiver.url.href, doomed: 0, sessionsEach: 0 });
  const server = await startServer(folder, { ...scene.env, GATEHOUSE_SMTP_URL: mails.url });
  const { token } = scene;
  const application = `/api/applications/${scene.applicationId}`;
  const done: Record<string, number> = {};
  const refusals: Record<string, number> = {};
  let isOver = false;

  async function ask(kind: string, call: Promise<HttpAnswer>, statuses = [200]): Promise<HttpAnswer> {
    const answer = await call;
    done[kind] = (done[kind] ?? 0) + 1;
    if (!statuses.includes(answer.status)) {
      const name = `${kind}: ${answer.status} ${answer.json?.error ?? ''}`;
      refusals[name] = (refusals[name] ?? 0) + 1;
    }
    return answer;
  }

  const sessions: string[] = [];
  const codes = new Map<string, string>();
  /** Reads and drops the mails that the server has collected. */
  function readMails(): void {
    for (const { envelopeTo, text } of (mails.received as (typeof mails.received)[number][]).splice(0)) {
      const [code] = /\b\d{6}\b/.exec(text) ?? [];
      if (code !== undefined) codes.set(envelopeTo[0]!, code);
    }
    (mails.offered as unknown[]).length = 0;
  }

  async function signIn(turn: number): Promise<void> {
    const email = `soak-${turn % PEOPLE}@example.com`;
    const body = { email, clientId: scene.clientId };
    const sent = await ask('send', request(server, 'POST', '/api/v1/auth/otp/send', { body }));
    if (sent.status !== 200) return;
    const code = await eventually(`a code for ${email}`, () => (readMails(), codes.get(email)), 30_000);
    codes.delete(email);
    const answer = await ask('sign in', verifyCode(server, sent.json.data.challengeId, code));
    if (answer.status !== 200) return;
    sessions.push(answer.json.data.token);
    if (sessions.length <= 100) return;
    const old = sessions.shift()!;
    await ask('sign out', request(server, 'DELETE', '/api/v1/session', { token: old }));
  }

  async function verify(turn: number): Promise<void> {
    const session = sessions[turn % sessions.length];
    if (session !== undefined) await ask('verify', request(server, 'POST', '/api/v1/session', { token: session }));
  }

  async function changeKey(turn: number): Promise<void> {
    const path = '/api/workspace/api-keys';
    const made = await ask(
      'key',
      request(server, 'POST', path, { token, body: { name: `soak ${turn}`, access: 'read' } }),
    );
    if (made.status === 200)
      await ask('key gone', request(server, 'DELETE', `${path}/${made.json.data.id}`, { token }), [200, 204]);
  }

  let holder: string | undefined;
  /** Emits one event per change, delivered to endpoints that refuse most. */
  async function changeRoles(turn: number): Promise<void> {
    if (holder === undefined) {
      const users = [{ email: 'holder@example.com', roleSlugs: ['user'] }];
      const made = await ask(
        'import',
        request(server, 'POST', `${application}/users/bulk`, { token, body: { users } }),
      );
      holder = made.json.data.results[0].userId as string;
    }
    const slugs = turn % 2 === 0 ? ['user', 'developer'] : ['user'];
    await ask('roles', request(server, 'PUT', `${application}/users/${holder}/roles`, { token, body: { slugs } }));
    // Releases a quarantined endpoint.
    if (turn % 60 === 59)
      await ask(
        'release',
        request(server, 'POST', `${application}/webhooks/${scene.webhookId}/release`, { token }),
        [200, 404, 409],
      );
  }

  /** Imports the same rows again and again: created the first time, found later. */
  async function importUsers(turn: number): Promise<void> {
    const users = Array.from({ length: 20 }, (_, row) => ({ email: `import-${turn % 20}-${row}@example.com` }));
    await ask('import', request(server, 'POST', `${application}/users/bulk`, { token, body: { users } }));
  }

  const picture = new Uint8Array(png(200, 200, () => RED));
  async function upload(turn: number): Promise<void> {
    const session = sessions[turn % sessions.length];
    if (session === undefined) return;
    const headers = { authorization: `Bearer ${session}`, 'content-type': 'image/png' };
    const url = `${server.url}/api/account/self/images/avatar`;
    const response = await fetch(url, { method: 'PUT', headers, body: picture });
    const answer = { status: response.status, headers: response.headers, text: await response.text(), json: undefined };
    await ask('picture', Promise.resolve(answer), [200, 401, 429]);
  }

  async function callTool(turn: number): Promise<void> {
    const message =
      turn % 2 === 0
        ? { method: 'tools/list' }
        : { method: 'tools/call', params: { name: 'getApplication', arguments: { id: scene.applicationId } } };
    const headers = { accept: 'application/json, text/event-stream' };
    await ask(
      'mcp',
      request(server, 'POST', '/mcp', { token, headers, body: { jsonrpc: '2.0', id: turn, ...message } }),
    );
  }

  async function readPages(turn: number): Promise<void> {
    const path = ['/healthz', '/readyz', `${application}/users?limit=50`, `${application}/stats`, '/openapi.json'][
      turn % 5
    ]!;
    await ask('read', request(server, 'GET', path, { token }));
  }

  const listening = new Set<AbortController>();
  /** Listens for a while, then reconnects. */
  async function listen(at: number): Promise<void> {
    while (!isOver) {
      const session = sessions[(at * 7) % Math.max(1, sessions.length)];
      if (session === undefined) {
        await Bun.sleep(50);
        continue;
      }
      const ended = new AbortController();
      listening.add(ended);
      const timer = setTimeout(() => ended.abort(), ((10 + Math.random() * 20) * 1000) / pace);
      try {
        const response = await fetch(`${server.url}/api/v1/session/events`, {
          headers: { authorization: `Bearer ${session}` },
          signal: ended.signal,
        });
        done['stream'] = (done['stream'] ?? 0) + 1;
        for await (const _ of response.body!) if (isOver) break;
      } catch {
        // Aborted on purpose.
      }
      clearTimeout(timer);
      listening.delete(ended);
      await Bun.sleep(20);
    }
  }

  /** Runs steps one after the other at a constant rate. */
  async function evenly(perSecond: number, step: (turn: number) => Promise<void>): Promise<void> {
    const everyMs = 1000 / (perSecond * pace);
    for (let turn = 0, due = performance.now(); !isOver; turn += 1, due += everyMs) {
      const early = due - performance.now();
      if (early > 0) await Bun.sleep(early);
      else due -= early;
      if (!isOver) await step(turn);
    }
  }

  async function sample(atSeconds: number): Promise<Sample> {
    const figures = await metricsOf(server);
    const of = (name: string) => figures.families.get(name)?.samples.reduce((sum, { value }) => sum + value, 0) ?? 0;
    const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
    const inMiB = (line: string) => Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)![1]) / 1024;
    return {
      atSeconds,
      privateMiB: inMiB('RssAnon'),
      residentMiB: inMiB('VmRSS'),
      descriptors: readdirSync(`/proc/${server.process.pid}/fd`).length,
      walMiB: of('gatehouse_database_wal_bytes') / MIB,
      databaseMiB: statSync(join(folder, 'gatehouse.db')).size / MIB,
      changesWaiting: of('gatehouse_database_changes_waiting'),
      mailsWaiting: of('gatehouse_mails_waiting'),
      deliveriesWaiting: of('gatehouse_deliveries_waiting'),
      longWorks: of('gatehouse_long_works'),
    };
  }

  const work = Promise.all([
    evenly(3, signIn),
    evenly(20, verify),
    evenly(1, changeKey),
    evenly(4, changeRoles),
    evenly(0.5, importUsers),
    evenly(0.2, upload),
    evenly(2, callTool),
    evenly(2, readPages),
    ...Array.from({ length: STREAMS }, (_, at) => listen(at)),
  ]).then(() => {});
  let problem: unknown;
  work.catch((error: unknown) => (problem = error));
  const samples: Sample[] = [];
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  let loopDelay = { half: 0, most: 0, worst: 0 };
  try {
    while (samples.length < seconds / everySeconds && problem === undefined) {
      await Bun.sleep(everySeconds * 1000);
      const seen = await sample(elapsed());
      samples.push(seen);
      if (samples.length % Math.max(1, Math.round(60 / everySeconds)) === 0) tell(lineOf(seen));
    }
    loopDelay = await loopDelayOf(server);
  } finally {
    isOver = true;
    for (const stream of listening) stream.abort();
    await Promise.race([work.catch(() => {}), Bun.sleep(5000)]);
  }
  const exitCode = await server.stop();
  await receiver.stop(true);
  await mails.close();
  scratch.remove();
  if (problem !== undefined) throw problem;
  return { samples, findings: judged(samples), done, refusals, loopDelay, exitCode };
}

const metricsOf = async (server: { url: string }) => readExposition((await request(server, 'GET', '/metrics')).text);

async function loopDelayOf(server: { url: string }) {
  const family = (await metricsOf(server)).families.get('gatehouse_event_loop_delay_seconds')!;
  const buckets = family.samples
    .filter(({ name }) => name.endsWith('_bucket'))
    .map(({ labels, value }) => ({ bound: Number(labels['le']!.replace('+Inf', 'Infinity')), value }));
  const all = buckets.at(-1)!.value;
  const at = (share: number) => buckets.find(({ value }) => value >= all * share)!.bound;
  return { half: at(0.5), most: at(0.99), worst: at(1) };
}

function lineOf(sample: Sample): string {
  const { atSeconds, privateMiB, residentMiB, descriptors, walMiB, databaseMiB } = sample;
  const { changesWaiting, mailsWaiting, deliveriesWaiting, longWorks } = sample;
  return (
    `${String(Math.round(atSeconds)).padStart(5)} s: ${privateMiB.toFixed(0)} MiB private of ${residentMiB.toFixed(0)}, ` +
    `${descriptors} descriptors, log ${walMiB.toFixed(1)} MiB, database ${databaseMiB.toFixed(1)} MiB; waiting ` +
    `${changesWaiting} changes, ${mailsWaiting} mails, ${deliveriesWaiting} deliveries, ${longWorks} long works`
  );
}

if (import.meta.main) {
  const minutes = Number(process.argv[2] ?? 30);
  const { findings, done, refusals, loopDelay, exitCode } = await soak(minutes * 60, { tell: console.log });
  console.log(`done: ${JSON.stringify(done)}`);
  console.log(`answered otherwise: ${JSON.stringify(refusals)}`);
  console.log(
    `loop late by at most ${loopDelay.half} s (half), ${loopDelay.most} s (99 of 100), ${loopDelay.worst} s (all)`,
  );
  console.log('rise over the second half, by the median of all slopes; allowed is a tenth of the median, or a floor:');
  for (const { name, median, rise, allowed } of findings)
    console.log(`  ${name}: ${rise.toFixed(2)} of ${allowed.toFixed(1)} allowed, median ${median.toFixed(1)}`);
  const broken = findings.filter(({ rise, allowed }) => rise > allowed);
  for (const { name } of broken) console.log(`NOT FLAT: ${name}`);
  if (exitCode !== 0) console.log(`the server ended with ${exitCode}`);
  process.exit(broken.length === 0 && exitCode === 0 && Object.keys(refusals).length === 0 ? 0 : 1);
}
