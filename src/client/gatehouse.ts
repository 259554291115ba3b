/** Entry point of the package `gatehouse` for backends, browser pages and command-line tools. */
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type DeviceLoginOptions, type DeviceLogin, deviceLogin, type PendingLogin } from './device-login.ts';
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
export { readReturn, type SignInReturn, type SignInUrlOptions, signInUrl } from './sign-in.ts';
export type { IncomingRequest } from './token-of.ts';
export { createVerifier, type Identity, type Verifier, type VerifierOptions } from './verifier.ts';
export { verifyWebhook, type WebhookEvent, type WebhookOptions, WebhookRefused } from './webhook.ts';
export type { components, operations, paths } from './generated/api.ts';
