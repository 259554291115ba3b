import type { GrantKind } from '../../store/grants.ts';

export const GRANT_NAMES = {
  roles: { audit: 'role', noun: 'role' },
  scopes: { audit: 'scope', noun: 'scope' },
  memberships: { audit: 'membership', noun: 'membership group' },
} as const satisfies Record<GrantKind, { audit: string; noun: string }>;
