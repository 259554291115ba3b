/**
 * better-auth on PostgreSQL, for `engines.ts`: codes by e-mail and bearer tokens, with the tables and indexes that it
 * creates itself, ten connections, and no rate limits. It is installed in FOLDER.
 * Usage: bun test/bench/better-auth.ts FOLDER DATABASE_URL PORT
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder = '', connectionString = '', port = ''] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const load = (name: string) => import(require.resolve(name));

const { betterAuth } = await load('better-auth');
const { getMigrations } = await load('better-auth/db/migration');
const { bearer, emailOTP } = await load('better-auth/plugins');
const { Pool } = await load('pg');

const auth = betterAuth({
  baseURL: `http://127.0.0.1:${port}`,
  secret: crypto.getRandomValues(new Uint8Array(32)).toHex(),
  database: new Pool({ connectionString, max: 10 }),
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [bearer(), emailOTP({ generateOTP: () => '123456', async sendVerificationOTP() {} })],
});
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: auth.handler });
