/** Paths of the OpenID provider. */
export { AUTHORIZATION_PATH, END_SESSION_PATH } from '../../core/openid-paths.ts';
export const TOKEN_PATH = '/oauth/token';
export const USERINFO_PATH = '/oauth/userinfo';
export const REGISTRATION_PATH = '/oauth/register';
export const DISCOVERY_PATH = '/.well-known/openid-configuration';
export const JWKS_PATH = '/.well-known/jwks.json';
/** The resource of agents, for which console clients get keys. */
export const AGENTS_PATH = '/mcp';
