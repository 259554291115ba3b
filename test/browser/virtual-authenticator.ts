/** A virtual authenticator of the browser (DevTools protocol), which needs no touch. */
import type { Page } from '../support/browser.ts';

/** A passkey in the authenticator. */
export interface StoredPasskey {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId: string;
  readonly privateKey: string;
  readonly userHandle: string;
  readonly signCount: number;
}

export interface VirtualAuthenticator {
  passkeys(): Promise<StoredPasskey[]>;
  add(passkey: StoredPasskey): Promise<void>;
  clear(): Promise<void>;
  /** Sets whether it verifies the user from now on. */
  setUserVerified(isUserVerified: boolean): Promise<void>;
  /** Sets whether somebody touches it; without a touch a ceremony stays open. */
  setTouched(isTouched: boolean): Promise<void>;
}

/** Adds a platform authenticator with user verification that is touched at once. */
export async function addAuthenticator({ view }: Page): Promise<VirtualAuthenticator> {
  await view.cdp('WebAuthn.enable');
  const { authenticatorId } = (await view.cdp('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })) as { authenticatorId: string };
  const send = (command: string, parameters: object = {}) =>
    view.cdp(`WebAuthn.${command}`, { authenticatorId, ...parameters });
  return {
    passkeys: async () => ((await send('getCredentials')) as { credentials: StoredPasskey[] }).credentials,
    add: async (credential) => void (await send('addCredential', { credential })),
    clear: async () => void (await send('clearCredentials')),
    setUserVerified: async (isUserVerified) => void (await send('setUserVerified', { isUserVerified })),
    setTouched: async (enabled) => void (await send('setAutomaticPresenceSimulation', { enabled })),
  };
}
