/** Reads the address of a PostgreSQL database as libpq writes it. It knows no driver, since every command reads settings. */

export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Settings of a PostgreSQL database that replaces the data folder. */
export interface PostgresSettings {
  readonly address: PostgresAddress;
  /** Connections of this instance. */
  readonly pool: number;
  /** Bytes of the instance key; null if none is given. */
  readonly keyBytes: Uint8Array | null;
}

/** Contains the password in `urls`: only `shown` may be printed or logged. */
export interface PostgresAddress {
  /** URL of each server of the cluster, for the driver: `sslmode` is their only parameter. */
  readonly urls: readonly string[];
  /** Hosts, ports and database, for people. */
  readonly shown: string;
  /** File with the certificate authorities to trust; null for those of the system. */
  readonly sslRootCert: string | null;
  /** Behind PgBouncer in transaction mode, which refuses startup parameters and forgets prepared statements. */
  readonly isBouncer: boolean;
}

export const POSTGRES_URL_REMEDY =
  'give postgres://user:password@host:5432/database; percent-encode other characters of the password.';

const DEFAULT_PORT = '5432';
/** libpq's word for the certificate authorities of the system. */
const SYSTEM_ROOTS = 'system';

/** Scheme and user, hosts separated by commas, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/[^@/?#]+@)([^/?#]+)(\/[^/?#]+(?:\?[^#]*)?)$/i;

/** @returns a remedy, without the password, for an address that cannot be used. */
export function readPostgresUrl(text: string): PostgresAddress | string {
  const [, user, hosts = '', rest] = PARTS.exec(text) ?? [];
  const urls = hosts.split(',').flatMap((host) => URL.parse(`${user}${host}${rest}`) ?? []);
  const [first] = urls;
  const isWhole = urls.length === hosts.split(',').length && urls.every((url) => url.hostname && url.username);
  if (first === undefined || !isWhole) return POSTGRES_URL_REMEDY;
  const parameters = readParameters(first.searchParams);
  if (typeof parameters === 'string') return parameters;
  const { sslMode, ...others } = parameters;
  const places = urls.map(({ hostname, port }) => `${hostname}:${port || DEFAULT_PORT}`);
  for (const url of urls) url.search = `sslmode=${sslMode}`;
  return { urls: urls.map(({ href }) => href), shown: `${places.join(',')}${first.pathname}`, ...others };
}

type Parameters = Omit<PostgresAddress, 'urls' | 'shown'> & { readonly sslMode: SslMode };

function readParameters(given: URLSearchParams): Parameters | string {
  const { sslmode = 'prefer', sslrootcert = SYSTEM_ROOTS, pgbouncer = 'false', ...others } = Object.fromEntries(given);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return `give only the parameters sslmode, sslrootcert and pgbouncer; ${unknown.replace(/\W/g, '?')} is not known.`;
  const sslMode = SSL_MODES.find((mode) => mode === sslmode);
  if (sslMode === undefined) return `give sslmode as ${SSL_MODES.join(', ')}.`;
  if (!['true', 'false'].includes(pgbouncer)) return 'give pgbouncer as true or false.';
  const sslRootCert = sslrootcert === SYSTEM_ROOTS ? null : sslrootcert;
  if (sslRootCert !== null && ['disable', 'prefer'].includes(sslMode))
    return 'give sslrootcert with sslmode verify-full or verify-ca: no other one checks it.';
  // libpq checks a given authority with `require` too.
  const isChecked = sslRootCert !== null && sslMode === 'require';
  return { sslMode: isChecked ? 'verify-ca' : sslMode, sslRootCert, isBouncer: pgbouncer === 'true' };
}
