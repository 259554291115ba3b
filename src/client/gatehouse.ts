/** Entry point of the package `gatehouse` for backends and browser pages. */
export { type Client, type ClientOptions, createClient } from './client.ts';
export { ApiError, type FieldError, GatehouseError, Unreachable } from './errors.ts';
export type { Fetch } from './exchange.ts';
export {
  NotAdmitted,
  type RefusalReason,
  type UnavailableReason,
  VerificationRefused,
  VerificationUnavailable,
} from './not-admitted.ts';
export { type NodeResponse, Refusal } from './refusal.ts';
export { readReturn, type SignInReturn, type SignInUrlOptions, signInUrl } from './sign-in-page.ts';
export type { IncomingRequest } from './token-of.ts';
export { createVerifier, has, type Identity, type Verifier, type VerifierOptions, type Wanted } from './verifier.ts';
export { verifyWebhook, type WebhookEvent, type WebhookOptions, WebhookRefused } from './webhook.ts';
export type { components, operations, paths } from './generated/api.ts';
