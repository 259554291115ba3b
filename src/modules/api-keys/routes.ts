/** The API keys of an application and of a workspace. */
import { type Operation, operation } from '../../http/operation.ts';
import { PageQuery } from '../../http/schemas.ts';
import { ApiKeyPage, ApplicationKeyInput, NewApiKey, WorkspaceKeyInput } from './model.ts';
import type { ApiKeys } from './service.ts';

const tag = 'API keys';

export function apiKeyRoutes(apiKeys: ApiKeys): Operation[] {
  return [
    operation({
      id: 'listApplicationKeys',
      method: 'GET',
      path: '/api/applications/:id/api-keys',
      summary: 'List an application’s API keys, newest first',
      tag,
      access: 'full',
      scope: 'application',
      limit: 'key',
      query: PageQuery,
      data: ApiKeyPage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => apiKeys.listOfApplication(application, query),
    }),
    operation({
      id: 'createApplicationKey',
      method: 'POST',
      path: '/api/applications/:id/api-keys',
      summary: 'Create an API key of an application',
      description: 'The token is in this answer and nowhere else.',
      tag,
      access: 'full',
      scope: 'application',
      limit: 'key',
      body: ApplicationKeyInput,
      data: NewApiKey,
      handle: ({ actor, application, body }) => apiKeys.createForApplication(actor, application, body),
    }),
    operation({
      id: 'listWorkspaceKeys',
      method: 'GET',
      path: '/api/workspace/api-keys',
      summary: 'List the workspace’s own API keys, newest first',
      tag,
      access: 'full',
      scope: 'workspace',
      limit: 'key',
      query: PageQuery,
      data: ApiKeyPage,
      errors: ['invalid_cursor'],
      handle: ({ workspaceId, query }) => apiKeys.listOfWorkspace(workspaceId, query),
    }),
    operation({
      id: 'createWorkspaceKey',
      method: 'POST',
      path: '/api/workspace/api-keys',
      summary: 'Create an API key of the workspace, or of a subset of its applications',
      description: 'The token is in this answer and nowhere else.',
      tag,
      access: 'full',
      scope: 'workspace',
      limit: 'key',
      body: WorkspaceKeyInput,
      data: NewApiKey,
      handle: ({ actor, workspaceId, body }) => apiKeys.createForWorkspace(actor, workspaceId, body),
    }),
  ];
}
