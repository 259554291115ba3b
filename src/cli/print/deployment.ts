/** Renders systemd, container, proxy and backup configuration files with this instance's host name and port. */
import { type Flags, loadConfig } from '../../config.ts';
import { VERSION } from '../../version.ts';
import caddy from './caddyfile.txt' with { type: 'text' };
import compose from './compose.yaml.txt' with { type: 'text' };
import dockerfile from './dockerfile.txt' with { type: 'text' };
import haproxy from './haproxy.cfg.txt' with { type: 'text' };
import litestream from './litestream.yaml.txt' with { type: 'text' };
import nginx from './nginx.conf.txt' with { type: 'text' };
import systemd from './systemd.service.txt' with { type: 'text' };

export const DEPLOYMENT_FILES: Readonly<Record<string, readonly [meaning: string, template: string]>> = {
  systemd: ['Hardened systemd unit', systemd],
  dockerfile: ['Image from a release, checked by its checksum', dockerfile],
  compose: ['Service with a volume, for Docker Compose', compose],
  nginx: ['nginx as a reverse proxy', nginx],
  caddy: ['Caddy as a reverse proxy', caddy],
  haproxy: ['HAProxy as a reverse proxy', haproxy],
  litestream: ['Continuous replication by Litestream, and its restore', litestream],
};

/** Host name and address in the templates, kept when none is configured. */
const NAME = 'auth.example.com';
const ADDRESS = '127.0.0.1:8080';

/** Returns the template filled in with this version, and with base URL and port when configured. */
export function deploymentFile(template: string, flags: Flags): string {
  const { baseUrl, port } = loadConfig(process.env, { flags });
  return template
    .replaceAll('@VERSION@', VERSION)
    .replaceAll(`https://${NAME}`, baseUrl ?? `https://${NAME}`)
    .replaceAll(NAME, baseUrl === null ? NAME : new URL(baseUrl).hostname)
    .replaceAll(ADDRESS, `127.0.0.1:${port}`);
}
