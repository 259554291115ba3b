/** The person's side of the device grant: deciding about devices, and managing connected ones. */
import { type Operation, operation } from '../../http/operation.ts';
import { PageQuery } from '../../http/schemas.ts';
import type { PersonalKeys } from './personal-keys.ts';
import { SIGN_IN_REFUSALS } from '../sign-in/complete.ts';
import type { Decision, DeviceApproval } from './approval.ts';
import type { GuessLimit } from './guesses.ts';
import {
  Device,
  DeviceDecision,
  DevicePage,
  DevicePatch,
  DeviceRequest,
  DeviceRevoked,
  UserCodeInput,
  UserCodeQuery,
} from './model.ts';

export interface DeviceAccountRouteDependencies {
  readonly deviceApproval: DeviceApproval;
  readonly personalKeys: PersonalKeys;
  readonly countGuess: GuessLimit;
}

const GUESSES = 'Too many wrong codes stop the session from asking; wrong ones all look the same.';

export function deviceAccountRoutes({
  deviceApproval,
  personalKeys,
  countGuess,
}: DeviceAccountRouteDependencies): Operation[] {
  const common = { access: 'session', scope: 'instance', limit: 'session' } as const;

  function decision(id: string, path: string, summary: string, decided: Decision): Operation {
    return operation({
      ...common,
      limit: 'user_code',
      tag: 'Device grant',
      id,
      method: 'POST',
      path,
      summary,
      description:
        decided === 'approved'
          ? `Needs a sign-in of the last ten minutes or a proof (\`POST /api/account/proof\`), in every application: the key outlives the session. Final; the same again changes nothing. ${GUESSES}`
          : `Final; the same again changes nothing. ${GUESSES}`,
      body: UserCodeInput,
      data: DeviceDecision,
      errors: [
        'not_found',
        'invalid_state',
        ...(decided === 'approved' ? (['reauthentication_required', ...SIGN_IN_REFUSALS] as const) : []),
      ],
      handle: ({ actor, principal, body, context }) =>
        countGuess({ principal, context }, () => deviceApproval.decide(actor, principal, body.user_code, decided)),
    });
  }

  return [
    operation({
      ...common,
      limit: 'user_code',
      tag: 'Device grant',
      id: 'getDeviceRequest',
      method: 'GET',
      path: '/api/account/device',
      summary: 'What the device that shows a code asks for; from then on this session decides',
      description: `With the session of the application that the device belongs to. ${GUESSES}`,
      query: UserCodeQuery,
      data: DeviceRequest,
      errors: ['not_found'],
      handle: ({ actor, principal, query, context }) =>
        countGuess({ principal, context }, () => deviceApproval.look(actor, principal, query.user_code)),
    }),
    decision('approveDevice', '/api/account/device/approve', 'Let the device act as you', 'approved'),
    decision('denyDevice', '/api/account/device/deny', 'Turn the device away', 'denied'),
    operation({
      ...common,
      tag: 'Account',
      id: 'listDevices',
      method: 'GET',
      path: '/api/account/devices',
      summary: 'List the devices that can act as you, newest first',
      description: 'Those of the session’s workspace; from the console all.',
      query: PageQuery,
      data: DevicePage,
      errors: ['invalid_cursor'],
      handle: ({ principal, query }) => personalKeys.list(principal, query),
    }),
    operation({
      ...common,
      tag: 'Account',
      id: 'renameDevice',
      method: 'PATCH',
      path: '/api/account/devices/:keyId',
      summary: 'Rename a connected device',
      body: DevicePatch,
      data: Device,
      errors: ['not_found', 'key_revoked'],
      handle: ({ actor, principal, params, body }) => personalKeys.rename(actor, principal, params.keyId, body.name),
    }),
    operation({
      ...common,
      tag: 'Account',
      id: 'revokeDevice',
      method: 'DELETE',
      path: '/api/account/devices/:keyId',
      summary: 'Disconnect a device at once and for good',
      data: DeviceRevoked,
      errors: ['not_found'],
      handle: ({ actor, principal, params }) => personalKeys.revoke(actor, principal, params.keyId),
    }),
  ];
}
