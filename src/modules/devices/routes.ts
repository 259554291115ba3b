/** Routes for the device's side of the device authorization grant. */
import { type Operation, operation } from '../../http/operation.ts';
import type { DeviceAuthorization } from './authorization.ts';
import { DeviceCode, DeviceCodeInput, DeviceToken, DeviceTokenInput } from './model.ts';

export const DEVICE_CODE_PATH = '/api/v1/device/code';
export const DEVICE_TOKEN_PATH = '/api/v1/device/token';

export interface DeviceRouteDependencies {
  readonly deviceAuthorization: DeviceAuthorization;
}

export function deviceRoutes({ deviceAuthorization }: DeviceRouteDependencies): Operation[] {
  const common = { tag: 'Device grant', access: 'none', scope: 'instance' } as const;
  return [
    operation({
      ...common,
      id: 'requestDeviceCode',
      method: 'POST',
      path: DEVICE_CODE_PATH,
      summary: 'Start connecting a device (RFC 8628)',
      description:
        'Show `user_code` and `verification_uri` to the person, then poll `/api/v1/device/token` with `device_code`. Unknown parameters are ignored.',
      limit: 'device_code',
      style: 'oauth',
      isFormAccepted: true,
      body: DeviceCodeInput,
      data: DeviceCode,
      errors: ['invalid_client', 'unauthorized_client'],
      handle: ({ actor, body, context }) =>
        deviceAuthorization.issue(actor, body, context.request.headers.get('user-agent')),
    }),
    operation({
      ...common,
      id: 'redeemDeviceCode',
      method: 'POST',
      path: DEVICE_TOKEN_PATH,
      summary: 'Poll for the person’s decision; returns the personal key once approved',
      description: [
        'Poll every `interval` seconds; each `slow_down` lengthens the interval by five seconds from then on.',
        'A request in JSON is answered with `scope` null; one in a form, as OAuth clients send it, without `scope`, which in OAuth is a string or left out (RFC 6749 §5.1).',
      ].join(' '),
      // Limited by the poll interval of the grant.
      limit: 'none',
      style: 'oauth',
      isFormAccepted: true,
      body: DeviceTokenInput,
      data: DeviceToken,
      errors: [
        'authorization_pending',
        'slow_down',
        'expired_token',
        'access_denied',
        'invalid_client',
        'invalid_grant',
        'unsupported_grant_type',
      ],
      async handle({ actor, body, context }) {
        const answer = { access_token: await deviceAuthorization.redeem(actor, body), token_type: 'Bearer' };
        return isJson(context.request) ? { ...answer, scope: null } : answer;
      },
    }),
  ];
}

function isJson(request: Request): boolean {
  return (request.headers.get('content-type') ?? '').toLowerCase().startsWith('application/json');
}
