/** Paths of the OpenID provider's pages. */
export const AUTHORIZATION_PATH = '/oauth/authorize';
export const CONSENT_PATH = `${AUTHORIZATION_PATH}/decision`;
export const END_SESSION_PATH = '/oauth/end-session';
export const SIGN_OUT_PATH = `${END_SESSION_PATH}/confirm`;
