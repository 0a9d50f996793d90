export type { Finding, FindingClass } from "./compare.ts";
export { compareServer } from "./compare.ts";
export { type CurrentItem, type CurrentServer, currentServer, itemsOfManifest } from "./current.ts";
export {
  formatLockFile,
  type LockedItem,
  type LockedServer,
  type LockFile,
  LockFileError,
  lineInLockFile,
  lockFileName,
  lockFileVersion,
  parseLockFile,
} from "./lock-file.ts";
export { lockServer, logHead, pinsOf } from "./pin.ts";
export { type ServerVerdict, type Verdict, type VerifyOptions, verifyLock } from "./verify.ts";
