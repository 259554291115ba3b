/** Parts of the account, each with its own path. */
export const ACCOUNT_PARTS = ['profile', 'addresses', 'sign-in', 'devices', 'applications', 'data'] as const;

export type AccountPart = (typeof ACCOUNT_PARTS)[number];

export function isAccountPart(text: string): text is AccountPart {
  return ACCOUNT_PARTS.some((part) => part === text);
}
