/** Workloads at both instances at once: one-time codes, ended credentials, slugs, limited keys, created users. */
import { isDone, isUnknown, type Sent } from './client.ts';
import { INSTANCES, type Place } from './instances.ts';
import { worker } from './registers.ts';
import { PLACES, type Scene } from './scene.ts';

type Worker = () => Promise<void>;

const PAUSE_MS = 40;
const LIMITED_PAUSE_MS = 150;

const atBoth = (send: (place: Place) => Promise<Sent>) => Promise.all(INSTANCES.map(send));

/** Checks at every place that an ended credential is refused. */
async function requireEnd(scene: Scene, what: string, check: (place: Place) => Promise<Sent>): Promise<void> {
  for (const [index, sent] of (await Promise.all(PLACES.map(check))).entries())
    if (isDone(sent)) scene.records.problems.push(`wrong verdict: ${what} was active at ${PLACES[index]}`);
}

/** A code used at both instances at once; then the session is kept, or ended in one of three ways. */
export function signIns(scene: Scene, at: number): Worker {
  const { client, records } = scene;
  return worker(scene, 'sign-ins', PAUSE_MS, async (turn) => {
    const email = `person-${at}-${turn}@example.com`;
    const given = await scene.code(PLACES[turn % 3]!, email);
    if (given === null) return;
    const answers = await atBoth((place) => client.send(place, 'POST', '/api/v1/auth/otp/verify', { body: given }));
    const taken = answers.filter(isDone);
    if (taken.length > 1) records.problems.push(`the code of ${email} was used twice`);
    if (taken.length === 0 && !answers.some(isUnknown))
      records.problems.push(`the code of ${email} was refused twice: ${answers.map(({ json }) => json?.error).join()}`);
    if (taken.length !== 1) return;
    const { token, userId } = taken[0]!.json.data as { token: string; userId: string };
    for (const sent of await atBoth((place) => scene.verify(place, token)))
      if (!isDone(sent) && !isUnknown(sent)) records.problems.push(`a new session was refused: ${sent.json?.error}`);
    const ways: readonly ((place: Place) => Promise<Sent>)[] = [
      (place) => client.send(place, 'DELETE', '/api/v1/session', { token }),
      (place) => scene.manage(place, 'POST', `${scene.path}/users/${userId}/ban`),
      (place) => scene.manage(place, 'DELETE', `${scene.path}/users/${userId}/sessions`),
    ];
    const end = ways[turn % 4];
    if (end === undefined) return void records.kept.push({ token, kind: 'session' });
    const ended = await end(PLACES[(turn >> 2) % 3]!);
    if (isDone(ended)) {
      records.ended.push({ token, kind: 'session' });
      await requireEnd(scene, `the session of ${email}, ended in way ${turn % 4}`, (place) =>
        scene.verify(place, token),
      );
    } else if (!isUnknown(ended)) records.problems.push(`the end of a session answered ${ended.status}`);
  });
}

/** A key that is used, and then revoked. */
export function revokedKeys(scene: Scene): Worker {
  const { client, records } = scene;
  const keys = `${scene.path}/api-keys`;
  return worker(scene, 'revoked keys', PAUSE_MS, async (turn) => {
    const body = { name: `key ${turn}`, access: 'read' };
    const made = await scene.manage(PLACES[turn % 3]!, 'POST', keys, body);
    if (!isDone(made)) return;
    const { id, token } = made.json.data as { id: string; token: string };
    const use = (place: Place) => client.send(place, 'GET', scene.path, { token });
    for (const sent of await atBoth(use))
      if (!isDone(sent) && !isUnknown(sent)) records.problems.push(`a new key was refused: ${sent.json?.error}`);
    if (turn % 4 === 3) return void records.kept.push({ token, kind: 'key' });
    const ended = await scene.manage(PLACES[(turn >> 2) % 3]!, 'DELETE', `${keys}/${id}`);
    if (!isDone(ended)) return;
    records.ended.push({ token, kind: 'key' });
    await requireEnd(scene, `key ${turn}`, use);
  });
}

/** Two instances create a role of the same slug at once. */
export function slugs(scene: Scene): Worker {
  const set = scene.set('slugs');
  return worker(scene, 'slugs', PAUSE_MS * 5, async (turn) => {
    const slug = `s${turn}`;
    const answers = await atBoth((place) => scene.manage(place, 'POST', `${scene.path}/roles`, { slug, name: slug }));
    const made = answers.filter(isDone).length;
    const isUncertain = answers.some(isUnknown);
    if (made > 1) scene.records.problems.push(`the slug ${slug} was made twice`);
    if (made === 0 && !isUncertain) scene.records.problems.push(`the slug ${slug} was refused twice`);
    set.push({ value: slug, outcome: made > 0 ? 'acknowledged' : isUncertain ? 'unknown' : 'refused' });
  });
}

/** Imports users, a few at a time. */
export function imports(scene: Scene): Worker {
  const set = scene.set('users');
  return worker(scene, 'imports', PAUSE_MS * 3, async (turn) => {
    const emails = [0, 1, 2].map((row) => `import-${turn}-${row}@example.com`);
    const body = { users: emails.map((email) => ({ email })) };
    const sent = await scene.manage(PLACES[turn % 3]!, 'POST', `${scene.path}/users/bulk`, body);
    const outcome = isDone(sent) ? 'acknowledged' : isUnknown(sent) ? 'unknown' : 'refused';
    for (const value of emails) set.push({ value, outcome });
  });
}

export const LIMITS = { perMinute: 20, perDay: 400 };

/** Calls of a limited key at both instances at once. */
export async function limitedKey(scene: Scene, at: number): Promise<Worker> {
  const rateLimits = at === 0 ? LIMITS : { perMinute: 1_000_000, perDay: LIMITS.perDay };
  const body = { name: `limited ${at}`, access: 'read', rateLimits };
  const made = await scene.manage('one', 'POST', `${scene.path}/api-keys`, body);
  const { token } = made.json.data as { token: string };
  const admitted: { begin: number; end: number }[] = [];
  scene.records.admitted.set(`limited ${at}`, admitted);
  const wall = (moment: number) => performance.timeOrigin + moment;
  return worker(scene, 'limited keys', LIMITED_PAUSE_MS, async () => {
    const answers = await atBoth((place) => scene.client.send(place, 'GET', scene.path, { token }));
    for (const sent of answers)
      if (isDone(sent)) admitted.push({ begin: wall(sent.begin), end: wall(sent.end) });
      else if (!isUnknown(sent) && sent.status !== 429)
        scene.records.problems.push(`a limited key was answered ${sent.status}`);
  });
}
