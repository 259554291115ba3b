/** Scene of the workloads: an application with roles, people and a webhook, and the records of what happened. */
import { eventually } from '../../support/eventually.ts';
import type { RegisterOperation, SetAddition } from '../../support/history.ts';
import { type Client, isDone, type Sent, type SendOptions } from './client.ts';
import { INSTANCES, type Place } from './instances.ts';

export const PLACES: readonly Place[] = [...INSTANCES, 'proxy'];
export const ROLES = Array.from({ length: 8 }, (_, index) => `r${index}`);

/** Records by which a run is judged. */
export interface Records {
  /** Operations on each register, by its name. */
  readonly registers: Map<string, { readonly initial: string; readonly operations: RegisterOperation<string>[] }>;
  /** Additions to each set, by its name. */
  readonly sets: Map<string, SetAddition[]>;
  /** Tokens whose end was acknowledged, and those that stay. */
  readonly ended: { readonly token: string; readonly kind: 'session' | 'key' }[];
  readonly kept: { readonly token: string; readonly kind: 'session' | 'key' }[];
  /** Admitted calls of each limited key: when each began and ended by the wall clock. */
  readonly admitted: Map<string, { readonly begin: number; readonly end: number }[]>;
  readonly problems: string[];
  /** Finished steps of each workload. */
  readonly steps: Record<string, number>;
}

export interface Person {
  readonly userId: string;
  readonly token: string;
}

export interface Scene {
  readonly client: Client;
  readonly records: Records;
  readonly applicationId: string;
  readonly clientId: string;
  /** Path of the application. */
  readonly path: string;
  /** Full key of the workspace without a limit that matters. */
  readonly key: string;
  manage(place: Place, method: string, path: string, body?: object): Promise<Sent>;
  verify(place: Place, token: string): Promise<Sent>;
  /** Sends a code and reads it from the database. @returns null if that fails. */
  code(place: Place, email: string): Promise<{ readonly challengeId: string; readonly code: string } | null>;
  signIn(email: string): Promise<Person>;
  /** Opens a register. @returns a function that adds an operation. */
  register(name: string, initial: string): (operation: RegisterOperation<string>) => void;
  set(name: string): SetAddition[];
  isOver(): boolean;
}

export interface SceneParts {
  readonly client: Client;
  readonly workspaceKey: string;
  readonly receiverUrl: string;
  readonly codeFor: (email: string) => Promise<string | null>;
  readonly isOver: () => boolean;
}

export async function setScene(parts: SceneParts): Promise<Scene> {
  const { client, workspaceKey, receiverUrl, codeFor, isOver } = parts;
  const records: Records = {
    registers: new Map(),
    sets: new Map(),
    ended: [],
    kept: [],
    admitted: new Map(),
    problems: [],
    steps: {},
  };

  async function required(method: string, path: string, options: SendOptions) {
    const sent = await client.send('one', method, path, options);
    if (!isDone(sent)) throw new Error(`${method} ${path} answered ${sent.status}: ${JSON.stringify(sent.json)}`);
    return sent.json.data;
  }

  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  const body = { name: 'load', access: 'full', rateLimits };
  const { token: key } = await required('POST', '/api/workspace/api-keys', { token: workspaceKey, body });
  const post = (path: string, of: object = {}) => required('POST', path, { token: key, body: of });
  const { id: applicationId, clientId } = await post('/api/applications', { name: 'Faults' });
  const path = `/api/applications/${applicationId}`;
  await post(`${path}/publish`);
  await post(`${path}/go-live`);
  for (const slug of ROLES) await post(`${path}/roles`, { slug, name: slug });
  await post(`${path}/webhooks`, { url: receiverUrl, events: ['*'] });

  const scene: Scene = {
    client,
    records,
    applicationId,
    clientId,
    path,
    key,
    isOver,
    manage: (place, method, of, given) =>
      client.send(place, method, of, { token: key, ...(given !== undefined && { body: given }) }),
    verify: (place, token) => client.send(place, 'POST', '/api/v1/session', { token }),
    async code(place, email) {
      const sent = await client.send(place, 'POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
      if (!isDone(sent)) return null;
      const code = await codeFor(email).catch(() => null);
      return code === null ? null : { challengeId: sent.json.data.challengeId, code };
    },
    async signIn(email) {
      const given = await eventually(`a code for ${email}`, () => scene.code('one', email));
      return required('POST', '/api/v1/auth/otp/verify', { body: given });
    },
    register(name, initial) {
      const operations: RegisterOperation<string>[] = [];
      records.registers.set(name, { initial, operations });
      return (operation) => void operations.push(operation);
    },
    set(name) {
      const additions: SetAddition[] = [];
      records.sets.set(name, additions);
      return additions;
    },
  };
  return scene;
}
