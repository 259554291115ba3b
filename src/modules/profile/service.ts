/** Combines the parts of a person's profile; each acts only for the person of the session. */
import { addressService } from './addresses.ts';
import { entityService } from './entities.ts';
import { identityService } from './identity.ts';
import { languageService } from './languages.ts';
import type { ProfileDependencies } from './profile-scope.ts';
import { regionService } from './region.ts';
import { usernameService } from './username.ts';

export type Profiles = ReturnType<typeof profileService>;

export function profileService(dependencies: ProfileDependencies) {
  const { db } = dependencies;
  return {
    identities: identityService(db),
    usernames: usernameService(db),
    regions: regionService(db),
    addresses: addressService(dependencies),
    entities: entityService(dependencies),
    languages: languageService(db),
  };
}
