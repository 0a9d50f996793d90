/** Files that a live object keeps open: its database, the log of it and the memory they share. */
const filesPerObject = 3;
/** The runtime itself, its sockets, the tenants. */
const filesBesides = 500;
const comfortable = 4_096;

/** A sentence for whoever starts a server in a shell that allows few open files; undefined where there are enough. */
export function openFilesWarning(limit = openFilesLimit()): string | undefined {
  if (limit === undefined || limit >= comfortable) return undefined;
  const sessions = Math.floor((limit - filesBesides) / filesPerObject);
  const enough =
    sessions > 0 ? `enough for about ${sessions} sessions in use at once` : "too few for many sessions at once";
  return (
    `This shell allows ${limit} open files, ${enough} (each takes up to ${filesPerObject}). ` +
    "For more, run ulimit -n 65536 before starting."
  );
}

/** Undefined where the system has no such limit, or does not tell. */
function openFilesLimit(): number | undefined {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft: number | "unlimited" } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : undefined;
}
