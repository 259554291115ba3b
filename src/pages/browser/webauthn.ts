/** The browser's side of passkeys: whether they can be used here, and its ceremonies, which end in one kind of answer. */

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
 * `aborted` when this page ended it, as for another ceremony. `refused` is what a browser says for all the rest:
 * cancelled, timed out, no passkey here, or not the right finger; it does not tell which, for privacy. `known` where this
 * authenticator has one already.
 */
export type CeremonyOutcome<Credential> =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly reason: 'aborted' | 'refused' | 'known' | 'failed' };

/** @param host the one the passkeys belong to; at another, and at a bare IP address, browsers offer none. */
export function canUsePasskeys(host: string | null): boolean {
  return host !== null && location.hostname === host && browserSupportsWebAuthn();
}

/** Whether passkeys can be offered in the suggestions of a field. */
export const canSuggestPasskeys = () => browserSupportsWebAuthnAutofill().catch(() => false);

/** Whether this very device can keep a passkey behind its screen lock. */
export const canKeepPasskeys = () => platformAuthenticatorIsAvailable().catch(() => false);

/** Asks for a passkey. @param isSuggestion waits, in silence, for one to be chosen from the suggestions of a field. */
export function askForPasskey(
  options: RequestOptions,
  isSuggestion: boolean,
): Promise<CeremonyOutcome<AuthenticationResponseJSON>> {
  return carryOut(() => startAuthentication({ optionsJSON: options, useBrowserAutofill: isSuggestion }));
}

/** To be called right after a click: some browsers refuse otherwise. */
export function createPasskey(options: CreationOptions): Promise<CeremonyOutcome<RegistrationResponseJSON>> {
  return carryOut(() => startRegistration({ optionsJSON: options }));
}

/** Ends the ceremony under way, if there is one. */
export function stopCeremony(): void {
  WebAuthnAbortService.cancelCeremony();
}

/** Lets the password manager know that a passkey is of no use any more; where it can be told. */
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
