import { gatehouse } from 'gatehouse/next';

const {
  GATEHOUSE = '',
  CLIENT_ID = '',
  CLIENT_SECRET = '',
  API_KEY = '',
  SITE = 'http://localhost:3000',
} = process.env;

/** The server, the client that people sign in to, and the key that verifies them. */
export const auth = gatehouse<'user' | 'editor'>({
  url: GATEHOUSE,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  apiKey: API_KEY,
  redirectUri: `${SITE}/auth/callback`,
});
