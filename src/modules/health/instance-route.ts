import { type Operation, operation } from '../../http/operation.ts';
import type { InstanceHealth } from './instance.ts';
import { InstanceHealthSchema } from './model.ts';

/** Closed to keys, which lie in backends and pipelines; those use `/healthz` and `/readyz`. */
export function instanceHealthRoute(health: InstanceHealth): Operation {
  return operation({
    id: 'getInstanceHealth',
    method: 'GET',
    path: '/api/workspace/health',
    summary: 'Read the health and settings of the instance, as an owner',
    description:
      'Owners of the first workspace run the instance and see everything; other owners see its version, ' +
      'mode and address. Secrets are never shown.',
    tag: 'Workspace',
    access: 'read',
    scope: 'workspace',
    consoleRole: 'owner',
    limit: 'key',
    data: InstanceHealthSchema,
    handle: ({ principal, workspaceId }) => health.get(principal, workspaceId),
  });
}
