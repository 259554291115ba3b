/** Renders systemd, container, proxy and backup configuration files with this instance's host name and port. */
import { type Flags, loadConfig } from '../../config.ts';
import { VERSION } from '../../version.ts';
import caddy from './caddyfile.txt' with { type: 'text' };
import compose from './compose.yaml.txt' with { type: 'text' };
import composePostgres from './compose-postgres.yaml.txt' with { type: 'text' };
import dockerfile from './dockerfile.txt' with { type: 'text' };
import haproxy from './haproxy.cfg.txt' with { type: 'text' };
import kubernetes from './kubernetes.yaml.txt' with { type: 'text' };
import litestream from './litestream.yaml.txt' with { type: 'text' };
import nginx from './nginx.conf.txt' with { type: 'text' };
import systemd from './systemd.service.txt' with { type: 'text' };

export interface DeploymentFile {
  readonly meaning: string;
  readonly template: string;
  /** Replaces the template with `--postgres`. */
  readonly onPostgres?: string;
}

export const DEPLOYMENT_FILES: Readonly<Record<string, DeploymentFile>> = {
  systemd: { meaning: 'Hardened systemd unit', template: systemd },
  dockerfile: { meaning: 'Image from a release, checked by its checksum', template: dockerfile },
  compose: { meaning: 'Service with a volume, for Docker Compose', template: compose, onPostgres: composePostgres },
  kubernetes: { meaning: 'Two instances on your PostgreSQL, for Kubernetes', template: kubernetes },
  nginx: { meaning: 'nginx as a reverse proxy', template: nginx },
  caddy: { meaning: 'Caddy as a reverse proxy', template: caddy },
  haproxy: { meaning: 'HAProxy as a reverse proxy', template: haproxy },
  litestream: { meaning: 'Continuous replication by Litestream, and its restore', template: litestream },
};

/** Flag without a value. */
export const POSTGRES = 'postgres';

/** Host name and address in the templates, kept when none is configured. */
const NAME = 'auth.example.com';
const ADDRESS = '127.0.0.1:8080';

/** Returns the file filled in with this version, and with base URL and port when configured. */
export function deploymentFile({ template, onPostgres = template }: DeploymentFile, flags: Flags): string {
  const { baseUrl, port } = loadConfig(process.env, { flags });
  return (flags[POSTGRES] === true ? onPostgres : template)
    .replaceAll('@VERSION@', VERSION)
    .replaceAll(`https://${NAME}`, baseUrl ?? `https://${NAME}`)
    .replaceAll(NAME, baseUrl === null ? NAME : new URL(baseUrl).hostname)
    .replaceAll(ADDRESS, `127.0.0.1:${port}`);
}
