/** The role manifest for agents and their tool server: each operation's required access and limit. */
import { describeLimitClass, type LimitSettings } from '../../http/limits.ts';
import { type AccessRule, effectsOf, type Operation } from '../../http/operation.ts';
import { pathTemplate } from './mounted.ts';
import { API_VERSION, documented } from './openapi.ts';

/** Access an agent needs: a session, or a key with this access. Client operations also accept a client secret. */
const CREDENTIAL_OF: Record<AccessRule, 'none' | 'session' | 'read' | 'full'> = {
  none: 'none',
  session: 'session',
  person: 'session',
  token: 'session',
  holder: 'session',
  key: 'read',
  agent: 'read',
  client: 'read',
  client_full: 'full',
  read: 'read',
  full: 'full',
};

export function roleManifest(operations: readonly Operation[], limits: LimitSettings) {
  const described = documented(operations);
  const classes = new Set(described.map(({ limit }) => limit));
  return {
    version: API_VERSION,
    limits: Object.fromEntries([...classes].map((name) => [name, describeLimitClass(name, limits)])),
    operations: described.map((operation) => {
      const { id, method, access, consoleRole, limit } = operation;
      const { isReadOnly, isDestructive, isConfirmed, isIdempotent } = effectsOf(operation);
      return {
        operationId: id,
        method,
        path: pathTemplate(operation),
        access: CREDENTIAL_OF[access],
        ...(consoleRole && { consoleRole }),
        limit,
        readOnly: isReadOnly,
        destructive: isDestructive,
        confirm: isConfirmed,
        idempotent: isIdempotent,
      };
    }),
  };
}
