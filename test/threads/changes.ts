/** Random changes of what verdicts rest on, and the application in which they are made. */
import { eventually } from '../support/eventually.ts';
import type { ThreadedServer } from './server.ts';

export interface Person {
  email: string;
  userId: string;
}

export interface Key {
  readonly id: string;
  readonly tokens: string[];
}

export interface World {
  readonly number: number;
  readonly applicationId: string;
  readonly clientId: string;
  readonly verifierId: string;
  verifier: string;
  /** A role whose slug changes. */
  staff: { readonly id: string; readonly slug: string };
  readonly people: Person[];
  readonly sessions: { readonly person: Person; readonly token: string }[];
  readonly keys: Key[];
  names: number;
}

const of = <Item>(items: readonly Item[], pick: number): Item => items[pick % items.length]!;

/** Returns one of the two latest sessions: older ones have often ended. */
const ofLatest = ({ sessions }: World, pick: number) => of(sessions.slice(-2), pick);

type Change = (world: World, pick: number) => Promise<unknown>;

/** Changes that the server may refuse in the present state: a refusal changes nothing, and verdicts must agree still. */
export function changesOn(threaded: ThreadedServer) {
  function onMember(world: World, pick: number, action: string): Promise<unknown> {
    const { userId } = of(world.people, pick);
    return threaded.data('POST', `/api/applications/${world.applicationId}/users/${userId}/${action}`);
  }

  /** Waits for background tasks, which could commit between a lookup and the thread's answer. */
  const workIsDone = ({ applicationId }: World) =>
    eventually(
      'no pending work',
      async () => (await threaded.data('GET', `/api/applications/${applicationId}`)).pendingWork === null,
    );

  return {
    signIn: async (world, pick) => {
      const person = of(world.people, pick);
      const { token, userId } = await threaded.signIn(world.clientId, person.email);
      person.userId = userId;
      world.sessions.push({ person, token });
    },
    ban: (world, pick) => onMember(world, pick, 'ban'),
    unban: (world, pick) => onMember(world, pick, 'unban'),
    pause: (world, pick) => onMember(world, pick, 'pause'),
    resume: (world, pick) => onMember(world, pick, 'resume'),
    giveRoles: (world, pick) =>
      threaded.data('PUT', `/api/applications/${world.applicationId}/users/${of(world.people, pick).userId}/roles`, {
        slugs: [[], ['user'], ['admin'], ['admin', 'user'], [world.staff.slug]][pick % 5],
      }),
    giveGroups: (world, pick) =>
      threaded.data(
        'PUT',
        `/api/applications/${world.applicationId}/users/${of(world.people, pick).userId}/memberships`,
        {
          slugs: [[], ['gold'], ['gold', 'silver']][pick % 3],
        },
      ),
    renameRole: async (world) => {
      world.names += 1;
      const path = `/api/applications/${world.applicationId}/roles/${world.staff.id}?force=true`;
      world.staff = await threaded.data('PATCH', path, { slug: `staff-${world.names}` });
      await workIsDone(world);
    },
    replaceRole: async (world) => {
      await threaded.data('DELETE', `/api/applications/${world.applicationId}/roles/${world.staff.id}?force=true`);
      world.staff = await createRole(threaded, world.applicationId, 'staff');
      await workIsDone(world);
    },
    changeEverybody: async (world, pick) => {
      const path = `/api/applications/${world.applicationId}/bulk-changes`;
      const roles = pick % 2 === 0 ? { add: [world.staff.slug] } : { remove: [world.staff.slug] };
      const { id } = await threaded.data('POST', path, { filter: {}, roles });
      await eventually('the change', async () => (await threaded.data('GET', `${path}/${id}`)).status === 'finished');
    },
    describe: (world, pick) =>
      threaded.data('PATCH', `/api/applications/${world.applicationId}/users/${of(world.people, pick).userId}`, {
        metadata: { plan: `plan-${pick}` },
        ...(pick % 2 === 0 && { externalId: `external-${pick}` }),
      }),
    delete: (world, pick) => onMember(world, pick, 'delete'),
    restore: (world, pick) => onMember(world, pick, 'restore'),
    deleteOwnAccount: async (world, pick) => {
      const { person, token } = ofLatest(world, pick);
      threaded.sqlite.query('UPDATE code_challenges SET created_at = created_at - 60000').run();
      const { challengeId } = await threaded.data('POST', '/api/account/deletion', undefined, token);
      await threaded.data('DELETE', '/api/account', { challengeId, code: threaded.codeFor(person.email) }, token);
      // Nobody registers with the address again.
      world.names += 1;
      person.email = `again-${world.number}-${world.names}@example.com`;
    },
    archive: async (world) => {
      const path = `/api/applications/${world.applicationId}/lifecycle`;
      threaded.sqlite.query('UPDATE code_challenges SET created_at = created_at - 60000').run();
      const { challengeId } = await threaded.data('POST', `${path}/send`, { kind: 'archive' });
      await threaded.data('POST', `${path}/confirm`, { challengeId, code: threaded.codeFor('owner@example.com') });
      await workIsDone(world);
    },
    unarchive: (world) => threaded.data('POST', `/api/applications/${world.applicationId}/unarchive`),
    rotateVerifier: async (world) => {
      const path = `/api/applications/${world.applicationId}/api-keys/${world.verifierId}/rotate`;
      world.verifier = (await threaded.data('POST', path)).token;
    },
    rename: (world, pick) => {
      world.names += 1;
      return threaded.data(
        'PATCH',
        '/api/account/profile/identity',
        { fullName: `Name ${world.names}` },
        ofLatest(world, pick).token,
      );
    },
    signOut: (world, pick) => threaded.data('DELETE', '/api/v1/session', undefined, ofLatest(world, pick).token),
    endSessions: async (world, pick) => {
      const path = `/api/applications/${world.applicationId}/users/${of(world.people, pick).userId}/sessions`;
      const { items } = await threaded.data('GET', path);
      if (items.length > 0) await threaded.data('DELETE', `${path}/${of<{ id: string }>(items, pick).id}`);
    },
    createKey: async (world) => {
      const { id, token } = await threaded.data('POST', `/api/applications/${world.applicationId}/api-keys`, {
        name: 'made',
        access: 'read',
      });
      world.keys.push({ id, tokens: [token] });
    },
    rotateKey: async (world, pick) => {
      const key = of(world.keys, pick);
      const { token } = await threaded.data(
        'POST',
        `/api/applications/${world.applicationId}/api-keys/${key.id}/rotate`,
      );
      key.tokens.push(token);
    },
    revokeKey: (world, pick) =>
      threaded.data('DELETE', `/api/applications/${world.applicationId}/api-keys/${of(world.keys, pick).id}`),
    renameTenant: (world) => {
      world.names += 1;
      return threaded.data('PATCH', `/api/applications/${world.applicationId}`, {
        slug: `shop-${world.number}-${world.names}`,
      });
    },
    import: (world, pick) =>
      threaded.data('POST', `/api/applications/${world.applicationId}/users/bulk`, {
        users: Array.from({ length: 20 }, (_, row) => ({ email: `imported-${pick}-${row}@example.com` })),
      }),
    maintain: async () => {
      await threaded.server.db.maintain();
      await threaded.server.services.flushCounters();
    },
  } satisfies Record<string, Change>;
}

const createRole = (threaded: ThreadedServer, applicationId: string, slug: string): Promise<World['staff']> =>
  threaded.data('POST', `/api/applications/${applicationId}/roles`, { name: slug, slug });

/** Creates an application with people, sessions and keys. */
export async function createWorld(threaded: ThreadedServer, number: number): Promise<World> {
  const { id: applicationId, clientId } = await threaded.createApplication({ name: `Shop ${number}` });
  await createRole(threaded, applicationId, 'admin');
  for (const slug of ['gold', 'silver'])
    await threaded.data('POST', `/api/applications/${applicationId}/memberships`, { name: slug, slug });
  const verifier = await threaded.data('POST', `/api/applications/${applicationId}/api-keys`, {
    name: 'verifier',
    access: 'full',
    rateLimits: { perMinute: 1_000_000, perDay: 100_000_000 },
  });
  const world: World = {
    number,
    applicationId,
    clientId,
    verifierId: verifier.id,
    verifier: verifier.token,
    staff: await createRole(threaded, applicationId, 'staff'),
    people: [],
    sessions: [],
    keys: [],
    names: 0,
  };
  for (let person = 0; person < 4; person += 1) {
    const email = `person-${number}-${person}@example.com`;
    const { token, userId } = await threaded.signIn(clientId, email);
    const one = { email, userId };
    world.people.push(one);
    world.sessions.push({ person: one, token });
  }
  return world;
}
