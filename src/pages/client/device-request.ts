/** Shows what a device asks for, and what it would be given. Every value is text, whatever the device calls itself. */

import { format } from '../../core/format.ts';
import type { DevicePageData } from '../page-data.ts';
import { element } from './dom.ts';

/** What the server says of a device's request, to the session of who may decide. */
export interface DeviceRequest {
  userCode: string;
  status: 'pending' | 'approved' | 'denied' | 'redeemed';
  application: { id: string; clientId: string; name: string; logoUrl: string | null };
  device: { name: string | null; ip: string | null; ipCountry: string | null; userAgent: string | null };
  grants: {
    actsAs: { userId: string; email: string; name: string | null };
    roles: string[];
    scopes: string[];
    memberships: string[];
    workspaces: { workspaceId: string; name: string; role: 'owner' | 'admin' | 'member' }[];
  };
  requestedAt: string;
  expiresAt: string;
}

/** Times and countries are written as the page's own language has them. */
export function fillDeviceRequest(
  { device, grants, requestedAt }: DeviceRequest,
  { device: text }: DevicePageData,
): void {
  const locale = document.documentElement.lang;
  const { name, email } = grants.actsAs;
  fill('account', name && name !== email ? [name, email] : [email]);
  const place = placeOf(device, locale);
  const time = timeOf(requestedAt, locale);
  fill('device', [
    device.name ?? text.unnamedDevice,
    ...(device.name === null && device.userAgent ? [device.userAgent] : []),
    place ? format(text.askedFrom, { time, place }) : format(text.asked, { time }),
  ]);

  const kinds: [label: string, values: string[]][] = [
    [text.roles, grants.roles],
    [text.scopes, grants.scopes],
    [text.memberships, grants.memberships],
  ];
  const groups = kinds.filter(([, values]) => values.length > 0).map(([label, values]) => tagged(label, values));
  const workspaces = grants.workspaces.map(({ name: workspace, role }) =>
    line(format(text.workspaceRole, { role: text[role], workspace })),
  );
  const access = [...workspaces, ...groups];
  element('access', HTMLElement).replaceChildren(...(access.length > 0 ? access : [line(text.accessPlain)]));
}

/** The first line is what matters; the rest stands below it, smaller. */
function fill(id: string, lines: string[]): void {
  element(id, HTMLElement).replaceChildren(...lines.map((text, index) => line(text, index > 0)));
}

function line(text: string, isSmall = false): HTMLElement {
  const row = document.createElement('div');
  row.textContent = text;
  row.className = isSmall ? 'fine' : '';
  row.dir = 'auto';
  return row;
}

function tagged(label: string, values: string[]): HTMLElement {
  const group = document.createElement('div');
  const tags = document.createElement('ul');
  tags.className = 'tags';
  tags.translate = false;
  for (const value of values) {
    const tag = document.createElement('li');
    tag.textContent = value;
    tags.append(tag);
  }
  group.append(line(label, true), tags);
  return group;
}

function placeOf({ ip, ipCountry }: DeviceRequest['device'], locale: string): string | null {
  if (!ipCountry) return ip;
  const country = new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' }).of(ipCountry) ?? ipCountry;
  return ip ? `${ip} (${country})` : country;
}

function timeOf(timestamp: string, locale: string): string {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  const style = isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' };
  return new Intl.DateTimeFormat(locale, style as Intl.DateTimeFormatOptions).format(time);
}
