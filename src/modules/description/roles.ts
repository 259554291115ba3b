/** The role manifest: which principal each operation needs and how it is limited, for agents and their tool server. */
import { describeLimitClass, type LimitSettings } from '../../http/limits.ts';
import type { Operation } from '../../http/operation.ts';
import { pathTemplate } from './mounted.ts';
import { API_VERSION, documented } from './openapi.ts';

export function roleManifest(operations: readonly Operation[], limits: LimitSettings) {
  const described = documented(operations);
  const classes = new Set(described.map(({ limit }) => limit));
  return {
    version: API_VERSION,
    limits: Object.fromEntries([...classes].map((name) => [name, describeLimitClass(name, limits)])),
    operations: described.map((operation) => {
      const { id, method, access, consoleRole, limit } = operation;
      return {
        operationId: id,
        method,
        path: pathTemplate(operation),
        access: access === 'token' || access === 'person' ? 'session' : access === 'key' ? 'read' : access,
        ...(consoleRole && { consoleRole }),
        limit,
      };
    }),
  };
}
