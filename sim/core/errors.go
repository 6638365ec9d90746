package core

import (
	"fmt"
	"net/http"
)

// Code is an ARM error code.
type Code string

// The codes that the embedded Azure answers with. Each has its HTTP status in
// statuses; a test keeps the two in step.
const (
	AnotherOperationInProgress       Code = "AnotherOperationInProgress"
	BadRequest                       Code = "BadRequest"
	CannotDeleteResource             Code = "CannotDeleteResource"
	Conflict                         Code = "Conflict"
	InUseNSG                         Code = "InUseNetworkSecurityGroupCannotBeDeleted"
	InUseNatGateway                  Code = "InUseNatGatewayCannotBeDeleted"
	InUseRouteTable                  Code = "InUseRouteTableCannotBeDeleted"
	InUseSubnet                      Code = "InUseSubnetCannotBeDeleted"
	InvalidAPIVersion                Code = "InvalidApiVersionParameter"
	InvalidParameter                 Code = "InvalidParameter"
	InvalidRequestContent            Code = "InvalidRequestContent"
	InvalidRequestFormat             Code = "InvalidRequestFormat"
	InvalidResourceLocation          Code = "InvalidResourceLocation"
	InvalidResourceName              Code = "InvalidResourceName"
	InvalidResourceReference         Code = "InvalidResourceReference"
	InvalidResourceType              Code = "InvalidResourceType"
	InvalidTagNameLength             Code = "InvalidTagNameCharacterLength"
	InvalidTagValueLength            Code = "InvalidTagValueLength"
	LocationNotAvailable             Code = "LocationNotAvailableForResourceType"
	LocationRequired                 Code = "LocationRequired"
	MethodNotAllowed                 Code = "MethodNotAllowed"
	NatGatewayPublicIPSku            Code = "NatGatewayPublicIpSkuNotSupported"
	NatGatewayZoneMismatch           Code = "NatGatewayAndPublicIPAddressZoneMismatch"
	NetcfgInvalidSubnet              Code = "NetcfgInvalidSubnet"
	NetcfgSubnetRangesOverlap        Code = "NetcfgSubnetRangesOverlap"
	NotFound                         Code = "NotFound"
	OperationNotAllowed              Code = "OperationNotAllowed"
	ParentResourceNotFound           Code = "ParentResourceNotFound"
	PreconditionFailed               Code = "PreconditionFailed"
	PropertyChangeNotAllowed         Code = "PropertyChangeNotAllowed"
	PublicIPInUse                    Code = "PublicIPAddressCannotBeDeleted"
	ReferencedResourceNotProvisioned Code = "ReferencedResourceNotProvisioned"
	ResourceGroupBeingDeleted        Code = "ResourceGroupBeingDeleted"
	ResourceGroupNotFound            Code = "ResourceGroupNotFound"
	ResourceNotFound                 Code = "ResourceNotFound"
	SecurityRuleConflict             Code = "SecurityRuleConflict"
	SecurityRuleInvalidAddressPrefix Code = "SecurityRuleInvalidAddressPrefix"
	SecurityRuleInvalidPortRanges    Code = "SecurityRuleParameterContainsInvalidPortRanges"
	SecurityRuleInvalidPortRange     Code = "SecurityRuleInvalidPortRange"
	SecurityRuleUnsupportedValue     Code = "SecurityRuleParameterContainsUnsupportedValue"
	TooManyTags                      Code = "TooManyTags"
	TooManyRequests                  Code = "TooManyRequests"
	VnetAddressSpacesOverlap         Code = "VnetAddressSpacesOverlap"
	ZonesFixed                       Code = "ResourceAvailabilityZonesCannotBeModified"

	// Identities, roles, vaults, registries and private endpoints.
	AlreadyInUse                     Code = "AlreadyInUse"
	ConflictError                    Code = "ConflictError"
	DelegatedSubnet                  Code = "ResourceNotPermittedOnDelegatedSubnet"
	DisablingPublicAccess            Code = "DisablingPublicNetworkAccessNotSupported"
	InvalidActionOrNotAction         Code = "InvalidActionOrNotAction"
	MissingLinkParameter             Code = "MissingParameterOnPrivateLinkServiceConnection"
	PrivateIPInUse                   Code = "PrivateIPAddressInUse"
	PrivateIPNotInSubnet             Code = "PrivateIPAddressNotInSubnet"
	NetworkRuleNotSupported          Code = "NetworkRuleNotSupported"
	SubnetIsFull                     Code = "SubnetIsFull"
	VaultAlreadyExists               Code = "VaultAlreadyExists"
	VaultNameNotValid                Code = "VaultNameNotValid"
	ConcurrentFederatedWrites        Code = "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity"
	InvalidPrincipalID               Code = "InvalidPrincipalId"
	InvalidRoleAssignmentID          Code = "InvalidRoleAssignmentId"
	InvalidRoleDefinitionID          Code = "InvalidRoleDefinitionId"
	PrincipalNotFound                Code = "PrincipalNotFound"
	RoleAssignmentExists             Code = "RoleAssignmentExists"
	RoleAssignmentUpdateNotPermitted Code = "RoleAssignmentUpdateNotPermitted"
	RoleDefinitionDoesNotExist       Code = "RoleDefinitionDoesNotExist"
	RoleDefinitionHasAssignments     Code = "RoleDefinitionHasAssignments"
	RoleDefinitionWithSameNameExists Code = "RoleDefinitionWithSameNameExists"
	UnmatchedPrincipalType           Code = "UnmatchedPrincipalType"

	// Service Bus and Storage.
	AccountPropertyNotUpdated    Code = "AccountPropertyCannotBeUpdated"
	ContainerOperationFailure    Code = "ContainerOperationFailure"
	HTTPResourceNotFound         Code = "HttpResourceNotFound"
	InvalidNetworkRuleSetUpdate  Code = "InvalidNetworkRuleSetUpdate"
	InvalidRequestProperty       Code = "InvalidRequestPropertyValue"
	InvalidValuesForRequest      Code = "InvalidValuesForRequestParameters"
	MessagingGatewayBadRequest   Code = "MessagingGatewayBadRequest"
	MissingLastAccessTracking    Code = "MissingLastAccessTimeBasedTrackingPolicy"
	NetworkAclsValidationFailure Code = "NetworkAclsValidationFailure"
	OperationNotAllowedOnKind    Code = "OperationNotAllowedOnKind"
	PublicAccessNotPermitted     Code = "PublicAccessNotPermitted"
	QuotaExceeded                Code = "QuotaExceeded"
	StorageAccountAlreadyTaken   Code = "StorageAccountAlreadyTaken"
	StorageAccountInOtherGroup   Code = "StorageAccountInAnotherResourceGroup"

	// AKS.
	InsufficientSubnetSize           Code = "InsufficientSubnetSize"
	KubeletIdentityMissingPermission Code = "CustomKubeletIdentityMissingPermissionError"
	LinkedAuthorizationFailed        Code = "LinkedAuthorizationFailed"
	NodePoolVersionIncompatible      Code = "NodePoolMcVersionIncompatible"
	PrivateDNSZoneMissingPermission  Code = "CustomPrivateDNSZoneMissingPermissionError"

	// Model accounts and API Management.
	AccountProvisioningInvalid Code = "AccountProvisioningStateInvalid"
	CustomDomainInUse          Code = "CustomDomainInUse"
	FlagMustBeSetForRestore    Code = "FlagMustBeSetForRestore"
	InsufficientQuota          Code = "InsufficientQuota"
	InvalidAPISetID            Code = "InvalidApiSetId"
	InvalidResourceProperties  Code = "InvalidResourceProperties"
	InvalidSkuID               Code = "InvalidSkuId"
	ModelNotSupported          Code = "DeploymentModelNotSupported"
	NotSupported               Code = "NotSupported"
	PessimisticConcurrency     Code = "PessimisticConcurrencyConflict"
	RequestConflict            Code = "RequestConflict"
	ServiceAlreadyExists       Code = "ServiceAlreadyExists"
	ServiceIsSoftDeleted       Code = "ServiceAlreadyExistsInSoftDeletedState"
	ValidationError            Code = "ValidationError"

	// Azure Policy.
	InvalidPolicyParameters   Code = "InvalidPolicyParameters"
	InvalidPolicyRule         Code = "InvalidPolicyRule"
	PolicyDefinitionInUse     Code = "PolicyDefinitionInUse"
	PolicyDefinitionNotFound  Code = "PolicyDefinitionNotFound"
	RequestDisallowedByPolicy Code = "RequestDisallowedByPolicy"
)

// statuses maps each code to its HTTP status, once for all.
var statuses = map[Code]int{
	AnotherOperationInProgress:       http.StatusConflict,
	BadRequest:                       http.StatusBadRequest,
	CannotDeleteResource:             http.StatusConflict,
	Conflict:                         http.StatusConflict,
	InUseNSG:                         http.StatusBadRequest,
	InUseNatGateway:                  http.StatusBadRequest,
	InUseRouteTable:                  http.StatusBadRequest,
	InUseSubnet:                      http.StatusBadRequest,
	InvalidAPIVersion:                http.StatusBadRequest,
	InvalidParameter:                 http.StatusBadRequest,
	InvalidRequestContent:            http.StatusBadRequest,
	InvalidRequestFormat:             http.StatusBadRequest,
	InvalidResourceLocation:          http.StatusConflict,
	InvalidResourceName:              http.StatusBadRequest,
	InvalidResourceReference:         http.StatusBadRequest,
	InvalidResourceType:              http.StatusNotFound,
	InvalidTagNameLength:             http.StatusBadRequest,
	InvalidTagValueLength:            http.StatusBadRequest,
	LocationNotAvailable:             http.StatusBadRequest,
	LocationRequired:                 http.StatusBadRequest,
	MethodNotAllowed:                 http.StatusMethodNotAllowed,
	NatGatewayPublicIPSku:            http.StatusBadRequest,
	NatGatewayZoneMismatch:           http.StatusBadRequest,
	NetcfgInvalidSubnet:              http.StatusBadRequest,
	NetcfgSubnetRangesOverlap:        http.StatusBadRequest,
	NotFound:                         http.StatusNotFound,
	OperationNotAllowed:              http.StatusConflict,
	ParentResourceNotFound:           http.StatusNotFound,
	PreconditionFailed:               http.StatusPreconditionFailed,
	PropertyChangeNotAllowed:         http.StatusConflict,
	PublicIPInUse:                    http.StatusBadRequest,
	ReferencedResourceNotProvisioned: http.StatusBadRequest,
	ResourceGroupBeingDeleted:        http.StatusConflict,
	ResourceGroupNotFound:            http.StatusNotFound,
	ResourceNotFound:                 http.StatusNotFound,
	SecurityRuleConflict:             http.StatusBadRequest,
	SecurityRuleInvalidAddressPrefix: http.StatusBadRequest,
	SecurityRuleInvalidPortRanges:    http.StatusBadRequest,
	SecurityRuleInvalidPortRange:     http.StatusBadRequest,
	SecurityRuleUnsupportedValue:     http.StatusBadRequest,
	TooManyTags:                      http.StatusBadRequest,
	TooManyRequests:                  http.StatusTooManyRequests,
	VnetAddressSpacesOverlap:         http.StatusBadRequest,
	ZonesFixed:                       http.StatusConflict,

	AlreadyInUse:                     http.StatusConflict,
	ConflictError:                    http.StatusConflict,
	DelegatedSubnet:                  http.StatusBadRequest,
	DisablingPublicAccess:            http.StatusBadRequest,
	InvalidActionOrNotAction:         http.StatusBadRequest,
	MissingLinkParameter:             http.StatusBadRequest,
	PrivateIPInUse:                   http.StatusBadRequest,
	PrivateIPNotInSubnet:             http.StatusBadRequest,
	NetworkRuleNotSupported:          http.StatusBadRequest,
	SubnetIsFull:                     http.StatusBadRequest,
	VaultAlreadyExists:               http.StatusConflict,
	VaultNameNotValid:                http.StatusBadRequest,
	ConcurrentFederatedWrites:        http.StatusConflict,
	InvalidPrincipalID:               http.StatusBadRequest,
	InvalidRoleAssignmentID:          http.StatusBadRequest,
	InvalidRoleDefinitionID:          http.StatusBadRequest,
	PrincipalNotFound:                http.StatusBadRequest,
	RoleAssignmentExists:             http.StatusConflict,
	RoleAssignmentUpdateNotPermitted: http.StatusBadRequest,
	RoleDefinitionDoesNotExist:       http.StatusBadRequest,
	RoleDefinitionHasAssignments:     http.StatusBadRequest,
	RoleDefinitionWithSameNameExists: http.StatusConflict,
	UnmatchedPrincipalType:           http.StatusBadRequest,

	// Service Bus and Storage.
	AccountPropertyNotUpdated:    http.StatusBadRequest,
	ContainerOperationFailure:    http.StatusConflict,
	HTTPResourceNotFound:         http.StatusNotFound,
	InvalidNetworkRuleSetUpdate:  http.StatusBadRequest,
	InvalidRequestProperty:       http.StatusBadRequest,
	InvalidValuesForRequest:      http.StatusBadRequest,
	MessagingGatewayBadRequest:   http.StatusBadRequest,
	MissingLastAccessTracking:    http.StatusBadRequest,
	NetworkAclsValidationFailure: http.StatusBadRequest,
	OperationNotAllowedOnKind:    http.StatusBadRequest,
	PublicAccessNotPermitted:     http.StatusConflict,
	QuotaExceeded:                http.StatusForbidden,
	StorageAccountAlreadyTaken:   http.StatusConflict,
	StorageAccountInOtherGroup:   http.StatusConflict,

	// AKS.
	InsufficientSubnetSize:           http.StatusBadRequest,
	KubeletIdentityMissingPermission: http.StatusBadRequest,
	LinkedAuthorizationFailed:        http.StatusForbidden,
	NodePoolVersionIncompatible:      http.StatusBadRequest,
	PrivateDNSZoneMissingPermission:  http.StatusBadRequest,

	// Model accounts and API Management.
	AccountProvisioningInvalid: http.StatusConflict,
	CustomDomainInUse:          http.StatusConflict,
	FlagMustBeSetForRestore:    http.StatusConflict,
	InsufficientQuota:          http.StatusBadRequest,
	InvalidAPISetID:            http.StatusBadRequest,
	InvalidResourceProperties:  http.StatusBadRequest,
	InvalidSkuID:               http.StatusBadRequest,
	ModelNotSupported:          http.StatusBadRequest,
	NotSupported:               http.StatusBadRequest,
	PessimisticConcurrency:     http.StatusConflict,
	RequestConflict:            http.StatusConflict,
	ServiceAlreadyExists:       http.StatusConflict,
	ServiceIsSoftDeleted:       http.StatusConflict,
	ValidationError:            http.StatusBadRequest,

	// Azure Policy.
	InvalidPolicyParameters:   http.StatusBadRequest,
	InvalidPolicyRule:         http.StatusBadRequest,
	PolicyDefinitionInUse:     http.StatusBadRequest,
	PolicyDefinitionNotFound:  http.StatusNotFound,
	RequestDisallowedByPolicy: http.StatusForbidden,
}

// Error is a refusal; as JSON it is the wire body inside {"error": ...}.
type Error struct {
	Code    Code   `json:"code"`
	Target  string `json:"target,omitempty"`
	Message string `json:"message"`

	// status is that of this refusal where a service differs from statuses.
	status int
}

// Error returns the text that azure-native prints for an ARM error.
func (e *Error) Error() string {
	return fmt.Sprintf("Status=%d Code=%q Message=%q", e.Status(), string(e.Code), e.Message)
}

// Status returns the HTTP status of the error's code; a code from outside, such
// as an injected one, counts as a bad request.
func (e *Error) Status() int {
	if e.status != 0 {
		return e.status
	}
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusBadRequest
}

// NotThere is the same refusal with the status 404, for a service that answers 400 to
// a reference to what does not exist, and 404 when it is asked for the thing itself.
func (e *Error) NotThere() *Error {
	e.status = http.StatusNotFound
	return e
}

// refuse makes an error whose message has four parts: what is wrong, what was
// got, what is wanted and why, and what to do about it.
func refuse(code Code, target, what, got, want, remedy string) *Error {
	return &Error{Code: code, Target: target, Message: fmt.Sprintf("%s: got %s, want %s; fix: %s", what, got, want, remedy)}
}
