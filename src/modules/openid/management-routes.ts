import { type Operation, operation } from '../../http/operation.ts';
import { OpenIdInput, OpenIdSettings } from './model.ts';
import type { OpenIdSettingsService } from './settings.ts';

const common = { tag: 'OpenID', path: '/api/applications/:id/openid', scope: 'application', limit: 'key' } as const;

export function openIdManagementRoutes(settings: OpenIdSettingsService): Operation[] {
  return [
    operation({
      ...common,
      id: 'getOpenId',
      method: 'GET',
      summary: 'Read an application’s OpenID settings',
      description: 'With what another program needs to sign people in here.',
      access: 'read',
      data: OpenIdSettings,
      handle: ({ application }) => settings.get(application),
    }),
    operation({
      ...common,
      id: 'setOpenId',
      method: 'PUT',
      summary: 'Let another program sign people in to an application by OpenID Connect',
      description:
        'Sets it up, or changes it. Optional fields that are left out stay unchanged. Setting `backchannelLogoutUri`, also to the same address, ends its quarantine.',
      gives: { words: 'Sign-ins are sent to the redirect URIs.' },
      access: 'full',
      body: OpenIdInput,
      data: OpenIdSettings,
      handle: ({ actor, application, body }) => settings.set(actor, application, body),
    }),
    operation({
      ...common,
      id: 'removeOpenId',
      method: 'DELETE',
      summary: 'Switch OpenID off for an application',
      description:
        'Removes the settings: the client, its codes and its refresh tokens are refused at once. The sessions that it got end, which its `backchannelLogoutUri` is told; other sessions of the application go on. The client secret stays, for introspection. Does nothing where OpenID is off.',
      access: 'full',
      data: OpenIdSettings,
      handle: ({ actor, application }) => settings.remove(actor, application),
    }),
  ];
}
