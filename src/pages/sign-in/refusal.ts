/** Refusals that apply to every sign-in method. */
export const REFUSALS = [
  'gate_closed',
  'waitlist',
  'user_deleted',
  'email_archived',
  'membership_blocked',
  'application_archived',
] as const;
export type Refusal = (typeof REFUSALS)[number];

export const isRefusal = (code: string): code is Refusal => REFUSALS.some((refusal) => refusal === code);
