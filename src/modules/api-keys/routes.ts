/** API key routes: the same operations for applications and workspaces. */
import { type Payload, type Operation, operation, type TargetOf } from '../../http/operation.ts';
import { Input, SeriesQuery } from '../../http/schemas.ts';
import type { KeyOwner } from '../../store/api-keys.ts';
import {
  ApiKeySchema,
  ApiKeyPage,
  ApiKeyPatch,
  ApiKeyQuery,
  ApplicationKeyInput,
  KeyCalls,
  NewApiKeySchema,
  WorkspaceKeyInput,
} from './model.ts';
import type { ApiKeys } from './service.ts';

const TOKEN: Payload = { words: 'The answer contains a token: anyone who reads it has the access of the key.' };

const ROTATION_ERRORS = ['not_found', 'key_revoked', 'membership_locked', 'already_in_grace', 'invalid_state'] as const;

function ownerOf({ application, workspaceId }: TargetOf<'application' | 'workspace'>): KeyOwner {
  if (application === null) return { workspaceId, applicationId: null };
  return { workspaceId: application.workspaceId, applicationId: application.id };
}

export function apiKeyRoutes(apiKeys: ApiKeys): Operation[] {
  const common = { tag: 'API keys', access: 'full', limit: 'key' } as const;
  return [
    ...keyRoutes(apiKeys, 'application', 'Application', '/api/applications/:id/api-keys'),
    ...keyRoutes(apiKeys, 'workspace', 'Workspace', '/api/workspace/api-keys'),
    operation({
      ...common,
      id: 'createApplicationKey',
      method: 'POST',
      path: '/api/applications/:id/api-keys',
      summary: 'Create an API key of an application',
      gives: TOKEN,
      description: 'The token is only in this answer. A key created with a personal key ends with it.',
      scope: 'application',
      body: ApplicationKeyInput,
      data: NewApiKeySchema,
      handle: ({ actor, application, body }) => apiKeys.createForApplication(actor, application, body),
    }),
    operation({
      ...common,
      id: 'createWorkspaceKey',
      method: 'POST',
      path: '/api/workspace/api-keys',
      summary: 'Create an API key of the workspace, or of a subset of its applications',
      gives: TOKEN,
      description:
        'The token is only in this answer. A key created with a personal key ends with it. `roles`, `scopes` or `memberships` need exactly one application: the key’s principal is a member there, and verification returns them. They grant no management rights; `access` does.',
      scope: 'workspace',
      body: WorkspaceKeyInput,
      data: NewApiKeySchema,
      handle: ({ actor, workspaceId, body }) => apiKeys.createForWorkspace(actor, workspaceId, body),
    }),
  ];
}

/** Operations on existing keys. */
function keyRoutes(apiKeys: ApiKeys, scope: 'application' | 'workspace', name: string, path: string): Operation[] {
  const common = { tag: 'API keys', access: 'full', limit: 'key', scope } as const;
  return [
    operation({
      ...common,
      id: `list${name}Keys`,
      method: 'GET',
      path,
      summary: `List the API keys of the ${scope}, newest first`,
      query: ApiKeyQuery,
      data: ApiKeyPage,
      errors: ['invalid_cursor'],
      handle: ({ query, ...target }) => apiKeys.list(ownerOf(target), query),
    }),
    operation({
      ...common,
      id: `get${name}Key`,
      method: 'GET',
      path: `${path}/:keyId`,
      summary: 'Read a key in any state',
      data: ApiKeySchema,
      handle: ({ params, ...target }) => apiKeys.get(ownerOf(target), params.keyId),
    }),
    operation({
      ...common,
      id: `get${name}KeyCalls`,
      isNoTool: scope === 'workspace',
      method: 'GET',
      path: `${path}/:keyId/calls`,
      summary: 'Read how often a key was used over time',
      query: SeriesQuery,
      data: KeyCalls,
      handle: ({ params, query, ...target }) => apiKeys.calls(ownerOf(target), params.keyId, query),
    }),
    operation({
      ...common,
      id: `update${name}Key`,
      method: 'PATCH',
      path: `${path}/:keyId`,
      summary: 'Change a key’s name, expiry or limits',
      gives: { words: 'The key may work longer, or be used more often.', fields: ['expiresAt', 'rateLimits'] },
      body: ApiKeyPatch,
      data: ApiKeySchema,
      errors: ['not_found'],
      handle: ({ actor, params, body, ...target }) => apiKeys.update(actor, ownerOf(target), params.keyId, body),
    }),
    operation({
      ...common,
      id: `revoke${name}Key`,
      method: 'DELETE',
      path: `${path}/:keyId`,
      summary: 'Revoke a key permanently',
      danger: 'Whatever still sends this key is refused at once and for good.',
      data: ApiKeySchema,
      errors: ['not_found'],
      handle: ({ actor, params, ...target }) => apiKeys.revoke(actor, ownerOf(target), params.keyId),
    }),
    operation({
      ...common,
      id: `rotate${name}Key`,
      method: 'POST',
      path: `${path}/:keyId/rotate`,
      summary: 'Give a key a new token; the old one stops working at once',
      danger: 'Whatever still sends the token in use is refused at once.',
      gives: TOKEN,
      body: Input({}),
      isBodyOptional: true,
      data: NewApiKeySchema,
      errors: ROTATION_ERRORS,
      handle: ({ actor, params, ...target }) => apiKeys.rotate(actor, ownerOf(target), params.keyId),
    }),
    operation({
      ...common,
      id: `rotate${name}KeyWithGrace`,
      method: 'POST',
      path: `${path}/:keyId/rotate-with-grace`,
      summary: 'Create a successor; the key itself keeps working for 24 hours',
      gives: TOKEN,
      body: Input({}),
      isBodyOptional: true,
      data: NewApiKeySchema,
      errors: ROTATION_ERRORS,
      handle: ({ actor, params, ...target }) => apiKeys.rotateWithGrace(actor, ownerOf(target), params.keyId),
    }),
  ];
}
