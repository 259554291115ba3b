/** Renders systemd, container, proxy and backup configuration files with this instance's host name and port. */
import { type Flags, loadConfig } from '../../config.ts';
import { VERSION } from '../../version.ts';
import compose from './compose.yaml' with { type: 'text' };
import caddy from './gatehouse.caddyfile' with { type: 'text' };
import dockerfile from './gatehouse.dockerfile' with { type: 'text' };
import systemd from './gatehouse.service' with { type: 'text' };
import haproxy from './haproxy.cfg' with { type: 'text' };
import litestream from './litestream.yaml' with { type: 'text' };
import nginx from './nginx.conf' with { type: 'text' };

const TEXTS = {
  systemd,
  dockerfile,
  compose: compose as string,
  nginx,
  caddy,
  haproxy,
  litestream: litestream as string,
} as const;

/** Host name and address in the templates, kept when none is configured. */
const NAME = 'auth.example.com';
const ADDRESS = '127.0.0.1:8080';

/** Returns the template filled in with this version, and with base URL and port when configured. */
export function deploymentFile(what: keyof typeof TEXTS, flags: Flags): string {
  const { baseUrl, port } = loadConfig(process.env, { flags });
  return TEXTS[what]
    .replaceAll('@VERSION@', VERSION)
    .replaceAll(`https://${NAME}`, baseUrl ?? `https://${NAME}`)
    .replaceAll(NAME, baseUrl === null ? NAME : new URL(baseUrl).hostname)
    .replaceAll(ADDRESS, `127.0.0.1:${port}`);
}
