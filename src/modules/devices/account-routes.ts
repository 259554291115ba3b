/** The person's side of the device grant: deciding about devices, and managing connected ones. */
import { type Operation, operation } from '../../http/operation.ts';
import { PageQuery } from '../../http/schemas.ts';
import type { PersonalKeys } from './personal-keys.ts';
import { SIGN_IN_REFUSALS } from '../sign-in/complete.ts';
import type { Decision, DeviceApproval } from './approval.ts';
import type { UserCodeLimit } from './user-code-limit.ts';
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
  readonly countGuess: UserCodeLimit;
}

const GUESSES = 'Wrong codes all get the same answer; too many of them block the session from trying.';

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
          ? `Needs a sign-in of the last ten minutes or a proof (\`POST /api/account/proof\`), in every application: the key outlives the session. Final; repeating it changes nothing. ${GUESSES}`
          : `Final; repeating it changes nothing. ${GUESSES}`,
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
      summary: 'Look up a device request by its user code; only this session can then decide it',
      description: `Needs a session of the application that the device belongs to. ${GUESSES}`,
      query: UserCodeQuery,
      data: DeviceRequest,
      errors: ['not_found'],
      handle: ({ actor, principal, query, context }) =>
        countGuess({ principal, context }, () => deviceApproval.look(actor, principal, query.user_code)),
    }),
    decision('approveDevice', '/api/account/device/approve', 'Approve a device to act as me', 'approved'),
    decision('denyDevice', '/api/account/device/deny', 'Decline a device', 'denied'),
    operation({
      ...common,
      tag: 'Account',
      id: 'listDevices',
      method: 'GET',
      path: '/api/account/devices',
      summary: 'List my connected devices, newest first',
      description: 'Devices of the session’s workspace; from the console, all.',
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
      summary: 'Disconnect a device permanently, at once',
      data: DeviceRevoked,
      errors: ['not_found'],
      handle: ({ actor, principal, params }) => personalKeys.revoke(actor, principal, params.keyId),
    }),
  ];
}
