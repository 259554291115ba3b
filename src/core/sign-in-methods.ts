/** The ways to sign in, said once: what an application can allow, what events and sessions name, and what refusals say. */

/** Those that an application's owner can switch on and off. */
export const SIGNIN_METHODS = ['otp', 'passkey', 'provider'] as const;
export type SwitchableMethod = (typeof SIGNIN_METHODS)[number];

/** What a session was made by. A setup link is the way back in, so nobody can switch it off. */
export const SESSION_METHODS = [...SIGNIN_METHODS, 'setup'] as const;
export type SignInMethod = (typeof SESSION_METHODS)[number];

/** As refusals call them. */
export const METHOD_NAMES: Readonly<Record<SwitchableMethod, string>> = {
  otp: 'code',
  passkey: 'passkey',
  provider: 'an identity provider',
};

/** Open to everyone, since everyone has an address; the others need something that the person has set up before. */
export const MAILED_METHODS: ReadonlySet<SwitchableMethod> = new Set(['otp']);
