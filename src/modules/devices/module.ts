/** Devices: the device grant (RFC 8628), its approval, and the resulting personal keys. */
import type { Module, ModuleContext } from '../module.ts';
import { deviceAccountRoutes } from './account-routes.ts';
import { type DeviceApproval, deviceApprovalService } from './approval.ts';
import { type DeviceAuthorization, deviceAuthorizationService } from './authorization.ts';
import { userCodeLimit } from './user-code-limit.ts';
import { ownKeyRoutes } from './own-key.ts';
import { type PersonalKeys, personalKeyService } from './personal-keys.ts';
import { deviceRoutes } from './routes.ts';

export interface DevicesModule extends Module {
  readonly approval: DeviceApproval;
  readonly authorization: DeviceAuthorization;
  readonly personalKeys: PersonalKeys;
}

export function devicesModule(context: ModuleContext): DevicesModule {
  const { limiter, limits } = context;
  const personalKeys = personalKeyService(context);
  const approval = deviceApprovalService({ ...context, personalKeys });
  const authorization = deviceAuthorizationService({ ...context, personalKeys });
  const countGuess = userCodeLimit(limiter, limits);
  return {
    approval,
    authorization,
    personalKeys,
    operations: [
      ...deviceRoutes({ deviceAuthorization: authorization }),
      ...deviceAccountRoutes({ deviceApproval: approval, personalKeys, countGuess }),
      ...ownKeyRoutes({ ...context, personalKeys }),
    ],
  };
}
