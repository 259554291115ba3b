/** Environment and flags → one typed, frozen configuration. Every problem is found before any is reported. */
import { StartupError } from './core/startup-error.ts';
import type { LimitSettings } from './http/limits.ts';
import type { CertificateFiles } from './http/certificate.ts';
import { GOOGLE_ISSUER } from './core/issuer.ts';
import {
  ALL_SETTINGS,
  CLIENT_VARIABLES,
  defaultOf,
  LIMIT_SETTINGS,
  type Mode,
  type Setting,
  SETTINGS,
  type SettingValues,
} from './settings.ts';

export type { Mode };

type ProviderPart = 'providerIssuer' | 'providerClientId' | 'providerClientSecret';
type TlsPart = 'tlsCert' | 'tlsKey';

/** What this instance was set to: each setting under its name in the table. */
export interface Config extends Omit<SettingValues, ProviderPart | TlsPart> {
  readonly mode: Mode;
  readonly limits: LimitSettings;
  /** Each setting as it may be shown to those who run the instance. */
  readonly shown: readonly ShownSetting[];
  /** The client at an identity provider that applications without one of their own sign people in with. */
  readonly provider: ProviderSettings | null;
  /** What https is spoken with here; null for plain http. */
  readonly tlsFiles: CertificateFiles | null;
}

/** Where a server that is told no address is reached. @param port it listens on. */
export function ownUrl({ baseUrl, mode, tlsFiles }: Config, port: number): string {
  const host = mode === 'ephemeral' ? '127.0.0.1' : 'localhost';
  return baseUrl ?? new URL(`${tlsFiles === null ? 'http' : 'https'}://${host}:${port}`).origin;
}

/** Where the machine itself reaches a server. @param port it listens on. */
export function localUrlOf({ host, tlsFiles }: Config, port: number): string {
  const own =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]', '': '127.0.0.1' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `${tlsFiles === null ? 'http' : 'https'}://${own}:${port}`;
}

/** The instance's own client at an identity provider. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A setting in text. */
export interface ShownSetting {
  /** The environment variable. */
  readonly name: string;
  /** As it was given, or its default; of a secret only that there is one. */
  readonly value: string | null;
  /** Nothing was given. */
  readonly isDefault: boolean;
  readonly meaning: string;
}

const HIDDEN = '••••';

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Flags of the command line by name; those that belong to a setting win over its variable. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** What the command line adds to the environment. */
export interface LoadOptions {
  readonly mode?: Mode;
  readonly flags?: Flags;
}

/** What is wrong with the settings, all of it; without the values. */
export class ConfigError extends StartupError {
  /** @param problems each begins with the setting's variable. */
  constructor(readonly problems: readonly string[]) {
    super(['The configuration has problems:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
  }
}

/** @throws {ConfigError} that lists every problem at once, by setting, without the values. */
export function loadConfig(environment: Environment, { mode = 'normal', flags = {} }: LoadOptions = {}): Config {
  const problems: string[] = [];
  const shown: ShownSetting[] = [];

  function show({ env: name, isSecret, meaning }: Setting, text: string | null, isDefault: boolean): void {
    shown.push({ name, value: text !== null && isSecret ? HIDDEN : text, isDefault, meaning });
  }

  function read(setting: Setting): unknown {
    const { env, flag, remedy, isVoidIn } = setting;
    const given = (flag && flags[flag.name]) ?? environment[env];
    const own = typeof given === 'string' ? given.trim() : '';
    const text = own || defaultOf(setting, mode);
    show(setting, isVoidIn === mode ? null : text || null, own === '');
    if (text === null) return null;
    const value = setting.parse(text, mode);
    if (value === null) problems.push(`${env}${flag ? ` (--${flag.name})` : ''}: ${remedy}`);
    return isVoidIn === mode ? null : value;
  }
  const readAll = (settings: Readonly<Record<string, Setting>>) =>
    Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, read(setting)]));

  // The tables' own types say what each is read into.
  const { providerIssuer, providerClientId, providerClientSecret, tlsCert, tlsKey, ...values } = readAll(
    SETTINGS,
  ) as SettingValues;
  const limits = readAll(LIMIT_SETTINGS) as LimitSettings;
  const provider = { issuer: providerIssuer, clientId: providerClientId, clientSecret: providerClientSecret };
  problems.push(
    ...missingParts(provider),
    ...tlsProblems(tlsCert, tlsKey, values.baseUrl),
    ...unknownNames(environment),
  );

  if (problems.length > 0) throw new ConfigError(problems);
  const tlsFiles = tlsCert !== null && tlsKey !== null ? { certFile: tlsCert, keyFile: tlsKey } : null;
  return Object.freeze({
    mode,
    ...values,
    limits: Object.freeze(limits),
    shown,
    provider: providerOf(provider),
    tlsFiles,
  });
}

type ProviderValues = { readonly [Part in keyof ProviderSettings]: string | null };

/** A client is an id and a secret; an issuer without one would be of no effect. */
function missingParts({ issuer, clientId, clientSecret }: ProviderValues): string[] {
  const { providerIssuer, providerClientId: id, providerClientSecret: secret } = SETTINGS;
  const together = (missing: Setting, given: Setting) => `${missing.env}: give it together with ${given.env}.`;
  return [
    ...(clientId !== null && clientSecret === null ? [together(secret, id)] : []),
    ...(clientSecret !== null && clientId === null ? [together(id, secret)] : []),
    ...(issuer !== null && clientId === null ? [together(providerIssuer, id)] : []),
  ];
}

/** A certificate is of no use without its key, and links must lead to what is spoken. */
function tlsProblems(cert: string | null, key: string | null, baseUrl: string | null): string[] {
  const { tlsCert, tlsKey, baseUrl: base } = SETTINGS;
  const named = ({ env, flag }: typeof tlsCert | typeof tlsKey) => `${env} (--${flag.name})`;
  return [
    ...(cert !== null && key === null ? [`${named(tlsKey)}: give it together with ${named(tlsCert)}.`] : []),
    ...(key !== null && cert === null ? [`${named(tlsCert)}: give it together with ${named(tlsKey)}.`] : []),
    ...(cert !== null && baseUrl?.startsWith('http:')
      ? [`${base.env} (--${base.flag.name}): with a certificate, give the https address.`]
      : []),
  ];
}

function providerOf({ issuer, clientId, clientSecret }: ProviderValues): ProviderSettings | null {
  if (clientId === null || clientSecret === null) return null;
  return Object.freeze({ issuer: issuer ?? GOOGLE_ISSUER, clientId, clientSecret });
}

/** Variables with our prefix that are no settings, so that a typo is not ignored. */
function unknownNames(environment: Environment): string[] {
  const known = new Set<string>([...ALL_SETTINGS.map(({ env }) => env), ...Object.values(CLIENT_VARIABLES)]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('GATEHOUSE_') && !known.has(name))
    .map((name) => `${name}: there is no such setting; see "gatehouse help" for those there are.`);
}
