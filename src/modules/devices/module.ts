/** Devices: the device grant (RFC 8628), its approval, and the resulting personal keys. */
import type { Module, World } from '../module.ts';
import { deviceAccountRoutes } from './account-routes.ts';
import { type DeviceApproval, deviceApprovalService } from './approval.ts';
import { deviceAuthorizationService } from './authorization.ts';
import { guessLimit } from './guesses.ts';
import { ownKeyRoutes } from './own-key.ts';
import { type PersonalKeys, personalKeyService } from './personal-keys.ts';
import { deviceRoutes } from './routes.ts';

export interface DevicesModule extends Module {
  readonly approval: DeviceApproval;
  readonly personalKeys: PersonalKeys;
}

export function devicesModule(world: World): DevicesModule {
  const { limiter, limits } = world;
  const personalKeys = personalKeyService(world);
  const approval = deviceApprovalService({ ...world, personalKeys });
  const authorization = deviceAuthorizationService({ ...world, personalKeys });
  const countGuess = guessLimit(limiter, limits);
  return {
    approval,
    personalKeys,
    operations: [
      ...deviceRoutes({ deviceAuthorization: authorization }),
      ...deviceAccountRoutes({ deviceApproval: approval, personalKeys, countGuess }),
      ...ownKeyRoutes({ ...world, personalKeys }),
    ],
  };
}
