/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retrieval of features, which Canopy does not have: using a name of it is an error that says so.
 */
#ifndef CANOPY_INCLUDE_ACL_OPS_ACL_FV_H
#define CANOPY_INCLUDE_ACL_OPS_ACL_FV_H

#include "../acl.h"
#include "../canopy_unavailable.h"

#define CANOPY_NO_RETRIEVAL "Canopy runs kernels: it has no retrieval of features (aclfv)"

#ifdef __cplusplus
extern "C" {
#endif

CANOPY_NO_TYPE(aclfvInitPara, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvFeatureInfo, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvRepoRange, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvQueryTable, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvSearchInput, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvSearchResult, CANOPY_NO_RETRIEVAL);
CANOPY_NO_TYPE(aclfvSearchType, CANOPY_NO_RETRIEVAL);

CANOPY_NO_CONSTANT(SEARCH_1_N, CANOPY_NO_RETRIEVAL);
CANOPY_NO_CONSTANT(SEARCH_N_M, CANOPY_NO_RETRIEVAL);

CANOPY_NO_FUNCTION(void*, aclfvCreateInitPara, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(void*, aclfvCreateFeatureInfo, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(void*, aclfvCreateRepoRange, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(void*, aclfvCreateQueryTable, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(void*, aclfvCreateSearchInput, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(void*, aclfvCreateSearchResult, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroyInitPara, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroyFeatureInfo, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroyRepoRange, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroyQueryTable, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroySearchInput, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDestroySearchResult, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvSet1NTopNum, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvSetNMTopNum, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvInit, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvRelease, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvRepoAdd, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvRepoDel, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvDel, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvModify, CANOPY_NO_RETRIEVAL);
CANOPY_NO_FUNCTION(aclError, aclfvSearch, CANOPY_NO_RETRIEVAL);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_OPS_ACL_FV_H */
