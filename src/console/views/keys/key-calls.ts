/** API calls for the keys of an application or a workspace. */
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';

export type Key = Schemas['ApiKey'];
export type NewKey = Schemas['NewApiKey'];

export type KeySource = Schemas['KeySource'];

export interface KeyOwner {
  readonly kind: 'application' | 'workspace';
  readonly id: string;
}

interface KeyInput {
  readonly name: string;
  readonly access: Key['access'];
  readonly expiresAt: string | null;
  readonly rateLimits: Key['rateLimits'];
  readonly roles?: string[];
  readonly scopes?: string[];
  readonly memberships?: string[];
  readonly applicationIds?: string[] | null;
}

export interface KeyCalls {
  list(source: KeySource, cursor: string | undefined): Promise<Outcome<Page<Key>>>;
  get(keyId: string): Promise<Outcome<Key>>;
  calls(keyId: string, days: number): Promise<Outcome<Schemas['KeyCalls']>>;
  create(input: KeyInput): Promise<Outcome<NewKey>>;
  update(keyId: string, patch: Schemas['ApiKeyPatch']): Promise<Outcome<Key>>;
  revoke(keyId: string): Promise<Outcome<Key>>;
  rotate(keyId: string, hasGrace: boolean): Promise<Outcome<NewKey>>;
}

const LIMIT = 100;
const ALL = '/api/workspace/api-keys';

/** The keys of both have the same shapes under paths of their own; the calls are typed by the workspace's. */
export function keyCalls({ kind, id }: KeyOwner): KeyCalls {
  const isOfWorkspace = kind === 'workspace';
  const all = (isOfWorkspace ? ALL : `/api/applications/${encodeURIComponent(id)}/api-keys`) as typeof ALL;
  const one = `${all}/{keyId}` as const;
  const query = isOfWorkspace ? { workspaceId: id } : {};
  const of = (keyId: string) => ({ params: { path: { keyId }, query } });
  return {
    list: (source, cursor) => ask(api.GET(all, { params: { query: { ...query, source, cursor, limit: LIMIT } } })),
    get: (keyId) => ask(api.GET(one, of(keyId))),
    calls: (keyId, days) => ask(api.GET(`${one}/calls`, { params: { path: { keyId }, query: { ...query, days } } })),
    create: (body) => ask(api.POST(all, { params: { query }, body })),
    update: (keyId, body) => ask(api.PATCH(one, { ...of(keyId), body })),
    revoke: (keyId) => ask(api.DELETE(one, of(keyId))),
    rotate: (keyId, hasGrace) =>
      ask(api.POST(hasGrace ? `${one}/rotate-with-grace` : `${one}/rotate`, { ...of(keyId), body: {} })),
  };
}
