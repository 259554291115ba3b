/** The sign-in methods: those an application can allow, those of sessions and events, and their names in refusals. */

/** Methods that an application's owner can switch on and off. */
export const SIGNIN_METHODS = ['otp', 'passkey', 'provider'] as const;
export type SwitchableMethod = (typeof SIGNIN_METHODS)[number];

/** Methods that create a session. A setup link restores access, so nobody can switch it off. */
export const SESSION_METHODS = [...SIGNIN_METHODS, 'setup'] as const;
export type SignInMethod = (typeof SESSION_METHODS)[number];

export const METHOD_NAMES: Readonly<Record<SwitchableMethod, string>> = {
  otp: 'code',
  passkey: 'passkey',
  provider: 'an identity provider',
};

/** Methods open to everyone, since everyone has an address; the others need something set up before. */
export const MAILED_METHODS: ReadonlySet<SwitchableMethod> = new Set(['otp']);
