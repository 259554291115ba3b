/** Two people, two applications, and the shape of a case. */
import { expect } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { type EventType } from '@/core/event.ts';
import { type Application } from '@/store/applications.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

export interface World {
  readonly instance: Instance;
  readonly application: Application;
  readonly other: Application;
  /** Signed in to both applications; has the role `user`. */
  readonly ada: { readonly userId: string; readonly token: string; readonly sessionId: string };
  readonly bea: { readonly userId: string; readonly sessionId: string };
  readonly ids: Readonly<Record<'role' | 'scope' | 'membership', string>>;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export const instances: Instance[] = [];

export async function createWorld(): Promise<World> {
  const instance = await createInstance();
  instances.push(instance);
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const { clientId, id } = application;
  const signIn = async (client: string, email: string) => {
    const { userId, token } = await instance.signIn(client, email);
    const row = instance.sqlite.query('SELECT id FROM sessions ORDER BY rowid DESC LIMIT 1').get();
    return { userId, token, sessionId: (row as { id: string }).id };
  };
  const [ada, bea] = [await signIn(clientId, 'ada@example.com'), await signIn(clientId, 'bea@example.com')];
  await signIn(other.clientId, 'ada@example.com');
  instance.clock.advance(MINUTE);
  const ids = {
    role: await given.grant(instance, 'roles', id, 'editor'),
    scope: await given.grant(instance, 'scopes', id, 'export'),
    membership: await given.grant(instance, 'memberships', id, 'berlin'),
  };
  const call = (method: string, path: string, body?: unknown) =>
    instance.call(method, `/api/applications/${id}${path}`, { token: instance.workspaceKey, body });
  return { instance, application, other, ada, bea, ids, call };
}

type Emitted = { type: EventType; data: object };
export const event = (type: EventType, data: object): Emitted => ({ type, data });
export const anyId = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}$`));

export interface Case {
  readonly what: string;
  /** The id of the operation under test. */
  readonly operation: string;
  readonly prepare?: (world: World) => unknown;
  readonly act: (world: World) => Promise<Answer>;
  /** The events of the application, in order. */
  readonly emits: (world: World) => Emitted[];
  /** The events of the person’s other application. */
  readonly elsewhere?: (world: World) => Emitted[];
}
