import { Admission } from "../kernel/pace/admission.ts";

/** Places for costly refreshes, shared by the objects of an isolate: of any tenant one at a time. */
export const refreshPlaces = new Admission(Date.now);
