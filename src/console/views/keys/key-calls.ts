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
  create(input: KeyInput): Promise<Outcome<NewKey>>;
  update(keyId: string, patch: Schemas['ApiKeyPatch']): Promise<Outcome<Key>>;
  revoke(keyId: string): Promise<Outcome<Key>>;
  rotate(keyId: string, hasGrace: boolean): Promise<Outcome<NewKey>>;
}

const LIMIT = 100;

export function keyCalls(owner: KeyOwner): KeyCalls {
  return owner.kind === 'application' ? applicationCalls(owner.id) : workspaceCalls(owner.id);
}

function applicationCalls(id: string): KeyCalls {
  const one = (keyId: string) => ({ params: { path: { id, keyId } } });
  return {
    list: (source, cursor) =>
      ask(
        api.GET('/api/applications/{id}/api-keys', {
          params: { path: { id }, query: { source, cursor, limit: LIMIT } },
        }),
      ),
    get: (keyId) => ask(api.GET('/api/applications/{id}/api-keys/{keyId}', one(keyId))),
    create: ({ applicationIds: _, ...body }) =>
      ask(api.POST('/api/applications/{id}/api-keys', { params: { path: { id } }, body })),
    update: (keyId, body) => ask(api.PATCH('/api/applications/{id}/api-keys/{keyId}', { ...one(keyId), body })),
    revoke: (keyId) => ask(api.DELETE('/api/applications/{id}/api-keys/{keyId}', one(keyId))),
    rotate: (keyId, hasGrace) =>
      hasGrace
        ? ask(api.POST('/api/applications/{id}/api-keys/{keyId}/rotate-with-grace', { ...one(keyId), body: {} }))
        : ask(api.POST('/api/applications/{id}/api-keys/{keyId}/rotate', { ...one(keyId), body: {} })),
  };
}

function workspaceCalls(workspaceId: string): KeyCalls {
  const query = { workspaceId };
  const one = (keyId: string) => ({ params: { path: { keyId }, query } });
  return {
    list: (source, cursor) =>
      ask(api.GET('/api/workspace/api-keys', { params: { query: { ...query, source, cursor, limit: LIMIT } } })),
    get: (keyId) => ask(api.GET('/api/workspace/api-keys/{keyId}', one(keyId))),
    create: ({ name, access, expiresAt, rateLimits, applicationIds = null }) =>
      ask(
        api.POST('/api/workspace/api-keys', {
          params: { query },
          body: { name, access, expiresAt, rateLimits, applicationIds },
        }),
      ),
    update: (keyId, body) => ask(api.PATCH('/api/workspace/api-keys/{keyId}', { ...one(keyId), body })),
    revoke: (keyId) => ask(api.DELETE('/api/workspace/api-keys/{keyId}', one(keyId))),
    rotate: (keyId, hasGrace) =>
      hasGrace
        ? ask(api.POST('/api/workspace/api-keys/{keyId}/rotate-with-grace', { ...one(keyId), body: {} }))
        : ask(api.POST('/api/workspace/api-keys/{keyId}/rotate', { ...one(keyId), body: {} })),
  };
}
