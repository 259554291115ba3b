/** Register workloads: roles in a verification, the status of a user, and the name of an application. */
import { isDone, isUnknown, type Sent } from './client.ts';
import type { Place } from './instances.ts';
import { PLACES, ROLES, type Scene } from './scene.ts';

type Worker = () => Promise<void>;

const READ_PAUSE_MS = 60;
const WRITE_PAUSE_MS = 120;

/** Repeats a step until the end of the load. */
export function worker(scene: Scene, name: string, pauseMs: number, step: (turn: number) => Promise<void>): Worker {
  return async () => {
    for (let turn = 0; !scene.isOver(); turn += 1) {
      await step(turn);
      scene.records.steps[name] = (scene.records.steps[name] ?? 0) + 1;
      await Bun.sleep(pauseMs);
    }
  };
}

const placeAt = (turn: number): Place => PLACES[turn % PLACES.length]!;

interface Register {
  readonly name: string;
  readonly initial: string;
  readonly writers: number;
  write(place: Place, value: string): Promise<Sent>;
  value(writer: number, turn: number): string;
  read(place: Place): Promise<Sent>;
  /** Returns the value that an answer shows. */
  seen(sent: Sent): string;
}

function workersOf(scene: Scene, { name, initial, writers, write, value, read, seen }: Register): Worker[] {
  const add = scene.register(name, initial);
  const kind = name.split(' ')[0]!;
  const writing = Array.from({ length: writers }, (_, at) =>
    worker(scene, `${kind} written`, WRITE_PAUSE_MS, async (turn) => {
      const given = value(at, turn);
      const sent = await write(placeAt(turn + at), given);
      const { begin, end } = sent;
      if (isDone(sent)) add({ kind: 'write', value: given, begin, end });
      else if (isUnknown(sent)) add({ kind: 'write', value: given, begin, end: null });
      else scene.records.problems.push(`${name}: the write answered ${sent.status} ${JSON.stringify(sent.json)}`);
    }),
  );
  const reading = PLACES.map((place) =>
    worker(scene, `${kind} read`, READ_PAUSE_MS, async () => {
      const sent = await read(place);
      const { begin, end } = sent;
      if (isDone(sent)) add({ kind: 'read', value: seen(sent), begin, end });
      else if (!isUnknown(sent))
        scene.records.problems.push(`${name}: the read answered ${sent.status} ${JSON.stringify(sent.json)}`);
    }),
  );
  return [...writing, ...reading];
}

/** One writer sets a person's roles; each instance verifies the person's session. */
export async function roleRegister(scene: Scene, at: number): Promise<Worker[]> {
  const { userId, token } = await scene.signIn(`role-holder-${at}@example.com`);
  const path = `${scene.path}/users/${userId}/roles`;
  const write = (place: Place, value: string) => scene.manage(place, 'PUT', path, { slugs: [value] });
  await write('one', ROLES[0]!);
  scene.records.kept.push({ token, kind: 'session' });
  return workersOf(scene, {
    name: `roles ${at}`,
    initial: ROLES[0]!,
    writers: 1,
    write,
    value: (_, turn) => ROLES[(turn + 1) % ROLES.length]!,
    read: (place) => scene.verify(place, token),
    seen: ({ json }) => json.roles.join(),
  });
}

/** One writer bans a person and lifts the ban; each instance reads the person's status. */
export async function statusRegister(scene: Scene, at: number): Promise<Worker[]> {
  const { userId } = await scene.signIn(`banned-${at}@example.com`);
  const path = `${scene.path}/users/${userId}`;
  return workersOf(scene, {
    name: `status ${at}`,
    initial: 'active',
    writers: 1,
    write: (place, value) => scene.manage(place, 'POST', `${path}/${value === 'banned' ? 'ban' : 'unban'}`),
    value: (_, turn) => (turn % 2 === 0 ? 'banned' : 'active'),
    read: (place) => scene.manage(place, 'GET', path),
    seen: ({ json }) => json.data.status,
  });
}

/** Several writers rename an application at the same time; each instance reads its name. */
export async function nameRegister(scene: Scene, at: number): Promise<Worker[]> {
  const made = await scene.manage('one', 'POST', '/api/applications', { name: 'start' });
  const path = `/api/applications/${made.json.data.id}`;
  return workersOf(scene, {
    name: `name ${at}`,
    initial: 'start',
    writers: 3,
    write: (place, name) => scene.manage(place, 'PATCH', path, { name }),
    value: (writer, turn) => `w${writer}-${turn}`,
    read: (place) => scene.manage(place, 'GET', path),
    seen: ({ json }) => json.data.name,
  });
}
