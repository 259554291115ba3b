import type { Unit } from '../../db/database.ts';
import type { ApiKey } from '../../store/api-keys.ts';
import { recordAudit } from '../../store/audit.ts';

/** Records a change of a personal key. @param userId its owner. */
export async function recordDevice(
  unit: Unit,
  kind: 'device.renamed' | 'device.revoked',
  key: ApiKey,
  userId: string,
): Promise<void> {
  const { id: targetId, applicationId, workspaceId, name } = key;
  await recordAudit(unit, { kind, applicationId, workspaceId, userId, targetId, detail: { name } });
}
