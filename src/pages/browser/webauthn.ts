/** WebAuthn in the browser: feature detection, and ceremonies with one type of result. */

import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  platformAuthenticatorIsAvailable,
  sendSignal,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/browser';

export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

/**
 * `aborted`: this page cancelled it, as for another ceremony. `known`: the authenticator already has one.
 * `refused`: cancelled, timed out, no passkey or failed verification, which browsers do not tell apart for privacy.
 */
export type CeremonyOutcome<Credential> =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly reason: 'aborted' | 'refused' | 'known' | 'failed' };

/** @param host the relying party's host; browsers offer no passkeys on others or on IP addresses. */
export function canUsePasskeys(host: string | null): boolean {
  return host !== null && location.hostname === host && browserSupportsWebAuthn();
}

/** Returns whether fields can suggest passkeys (conditional UI). */
export const canSuggestPasskeys = () => browserSupportsWebAuthnAutofill().catch(() => false);

/** Returns whether this device has a platform authenticator. */
export const canKeepPasskeys = () => platformAuthenticatorIsAvailable().catch(() => false);

/** Asks for a passkey. @param isSuggestion waits silently for a choice from a field's suggestions. */
export function askForPasskey(
  options: RequestOptions,
  isSuggestion: boolean,
): Promise<CeremonyOutcome<AuthenticationResponseJSON>> {
  return carryOut(() => startAuthentication({ optionsJSON: options, useBrowserAutofill: isSuggestion }));
}

/** Call right after a click: some browsers require a user gesture. */
export function createPasskey(options: CreationOptions): Promise<CeremonyOutcome<RegistrationResponseJSON>> {
  return carryOut(() => startRegistration({ optionsJSON: options }));
}

export function stopCeremony(): void {
  WebAuthnAbortService.cancelCeremony();
}

/** Tells the password manager, where supported, that a passkey is unknown to the server. */
export function reportUnknownPasskey(rpID: string, credentialID: string): void {
  sendSignal({ signalName: 'unknownCredential', rpID, credentialID }).catch(() => {});
}

async function carryOut<Credential>(ceremony: () => Promise<Credential>): Promise<CeremonyOutcome<Credential>> {
  try {
    return { ok: true, credential: await ceremony() };
  } catch (error) {
    const { name } = error as Error;
    if (name === 'AbortError') return { ok: false, reason: 'aborted' };
    if (name === 'InvalidStateError') return { ok: false, reason: 'known' };
    return { ok: false, reason: name === 'NotAllowedError' ? 'refused' : 'failed' };
  }
}
