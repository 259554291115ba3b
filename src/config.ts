/** Reads environment and flags into one typed, frozen configuration, and finds every problem before reporting any. */
import { StartupError } from './core/startup-error.ts';
import type { PostgresSettings } from './db/postgres/address.ts';
import type { LimitSettings } from './http/limits.ts';
import { GOOGLE_ISSUER } from './core/issuer.ts';
import {
  defaultOf,
  KNOWN_VARIABLES,
  LIMIT_SETTINGS,
  type Mode,
  type Setting,
  SETTINGS,
  type SettingValues,
} from './settings.ts';
import { type Environment, type Flags, settingName, settingText } from './setting-text.ts';

export type { Environment, Flags, Mode };

type ProviderPart = 'providerIssuer' | 'providerClientId' | 'providerClientSecret';
type TlsPart = 'tlsCert' | 'tlsKey';
type DatabasePart = 'databaseUrl' | 'databasePool' | 'instanceKey';

/** The configuration of this instance: each setting under its name in the settings table. */
export interface Config extends Omit<SettingValues, ProviderPart | TlsPart | DatabasePart> {
  readonly mode: Mode;
  readonly limits: LimitSettings;
  /** Every setting as text for operators, with secrets masked. */
  readonly shown: readonly ShownSetting[];
  /** The default client at an identity provider, for applications without one of their own. */
  readonly provider: ProviderSettings | null;
  /** Certificate and key for https; null for plain http. */
  readonly tlsFiles: { readonly certFile: string; readonly keyFile: string } | null;
  /** PostgreSQL in place of the data folder; null for the data folder. */
  readonly database: PostgresSettings | null;
}

/** Returns the base URL, or a local address if none is configured. @param port it listens on. */
export function ownUrl({ baseUrl, mode, tlsFiles }: Config, port: number): string {
  const host = mode === 'ephemeral' ? '127.0.0.1' : 'localhost';
  return baseUrl ?? new URL(`${tlsFiles === null ? 'http' : 'https'}://${host}:${port}`).origin;
}

/** Returns the address at which this machine itself reaches the server. @param port it listens on. */
export function localUrlOf({ host, tlsFiles }: Config, port: number): string {
  const own =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]', '': '127.0.0.1' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `${tlsFiles === null ? 'http' : 'https'}://${own}:${port}`;
}

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ShownSetting {
  readonly name: string;
  /** The given text or the default, masked for a secret; null without either, or in a mode that ignores the setting. */
  readonly value: string | null;
  readonly isDefault: boolean;
  readonly meaning: string;
}

const HIDDEN = '••••';

export interface LoadOptions {
  readonly mode?: Mode;
  readonly flags?: Flags;
}

/** The error for an invalid configuration: lists every problem, without the values. */
export class ConfigError extends StartupError {
  /** @param problems each begins with the setting's variable. */
  constructor(readonly problems: readonly string[]) {
    super(['The configuration has problems:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
  }
}

/** Loads the configuration. @throws {ConfigError} that lists every problem at once, by setting, without the values. */
export function loadConfig(environment: Environment, { mode = 'normal', flags = {} }: LoadOptions = {}): Config {
  const problems: string[] = [];
  const shown: ShownSetting[] = [];

  function show({ env: name, isSecret, meaning }: Setting, text: string | null, isDefault: boolean): void {
    shown.push({ name, value: text !== null && isSecret ? HIDDEN : text, isDefault, meaning });
  }

  function read(setting: Setting): unknown {
    const { remedy, isVoidIn } = setting;
    const { source, text: own, isGiven, problem } = settingText(setting, environment, flags);
    if (problem !== null) problems.push(problem);
    const text = own || defaultOf(setting, mode);
    show(setting, isVoidIn === mode ? null : text || null, !isGiven);
    if (text === null) return null;
    const value = setting.parse(text, mode);
    if (value === null) problems.push(`${source}: ${setting.remedyFor?.(text) ?? remedy}`);
    return isVoidIn === mode ? null : value;
  }
  const readAll = (settings: Readonly<Record<string, Setting>>) =>
    Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, read(setting)]));

  // The settings table defines the type that each setting is parsed into.
  const { providerIssuer, providerClientId, providerClientSecret, tlsCert, tlsKey, ...others } = readAll(
    SETTINGS,
  ) as SettingValues;
  const { databaseUrl, databasePool, instanceKey, ...values } = others;
  const limits = readAll(LIMIT_SETTINGS) as LimitSettings;
  const provider = { issuer: providerIssuer, clientId: providerClientId, clientSecret: providerClientSecret };
  problems.push(
    ...missingParts(provider),
    ...tlsProblems(tlsCert, tlsKey, values.baseUrl),
    ...databaseProblems(shown, instanceKey !== null),
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
    database: databaseUrl && Object.freeze({ address: databaseUrl, pool: databasePool, keyBytes: instanceKey }),
  });
}

/** Returns problems of settings that exclude PostgreSQL or are for PostgreSQL only. */
function databaseProblems(shown: readonly ShownSetting[], hasKey: boolean): string[] {
  const { databaseUrl: url, dataFolder, backupTo, instanceKey: key, threads } = SETTINGS;
  const isGiven = ({ env }: Setting) => shown.some(({ name, isDefault }) => name === env && !isDefault);
  if (!isGiven(url))
    return hasKey ? [`${key.env}: give it together with ${url.env}; a data folder has its own key.`] : [];
  return [
    ...(isGiven(dataFolder)
      ? [`${settingName(dataFolder)}: leave it out (or empty) with ${url.env}; give one of them.`]
      : []),
    ...(shown.some(({ name, isDefault, value }) => name === threads.env && !isDefault && value !== '0')
      ? [`${settingName(threads)}: leave it out with ${url.env}; run more instances instead.`]
      : []),
    ...(isGiven(backupTo)
      ? [`${backupTo.env}: leave it out with ${url.env}; back PostgreSQL up by its own tools, such as pg_dump.`]
      : []),
  ];
}

type ProviderValues = { readonly [Part in keyof ProviderSettings]: string | null };

/** Returns problems of an incomplete client: id and secret need each other, and an issuer needs a client. */
function missingParts({ issuer, clientId, clientSecret }: ProviderValues): string[] {
  const { providerIssuer, providerClientId: id, providerClientSecret: secret } = SETTINGS;
  const together = (missing: Setting, given: Setting) => `${missing.env}: give it together with ${given.env}.`;
  return [
    ...(clientId !== null && clientSecret === null ? [together(secret, id)] : []),
    ...(clientSecret !== null && clientId === null ? [together(id, secret)] : []),
    ...(issuer !== null && clientId === null ? [together(providerIssuer, id)] : []),
  ];
}

/** Returns problems of the TLS settings: certificate and key need each other, and links must use https. */
function tlsProblems(cert: string | null, key: string | null, baseUrl: string | null): string[] {
  const { tlsCert, tlsKey, baseUrl: base } = SETTINGS;
  return [
    ...(cert !== null && key === null
      ? [`${settingName(tlsKey)}: give it together with ${settingName(tlsCert)}.`]
      : []),
    ...(key !== null && cert === null
      ? [`${settingName(tlsCert)}: give it together with ${settingName(tlsKey)}.`]
      : []),
    ...(cert !== null && baseUrl?.startsWith('http:')
      ? [`${settingName(base)}: with a certificate, give the https address.`]
      : []),
  ];
}

function providerOf({ issuer, clientId, clientSecret }: ProviderValues): ProviderSettings | null {
  if (clientId === null || clientSecret === null) return null;
  return Object.freeze({ issuer: issuer ?? GOOGLE_ISSUER, clientId, clientSecret });
}

/** Returns a problem for each unknown variable with our prefix, so that a typo is not ignored. */
function unknownNames(environment: Environment): string[] {
  const known = new Set(KNOWN_VARIABLES);
  return Object.keys(environment)
    .filter((name) => name.startsWith('GATEHOUSE_') && !known.has(name))
    .map((name) => `${name}: there is no such setting; see "gatehouse help" for those there are.`);
}
