package core

import (
	"net/http"
	"strconv"
	"strings"
)

// actions are what can be done to a resource besides reading and writing it, by
// type and name in lower case.
var actions = map[string]func(s State, r *Resource) (map[string]any, *Error){
	modelAccountType + "/listkeys": listAccountKeys,
	keyType + "/listsecrets":       listKeySecrets,
	namedValueType + "/listvalue":  listNamedValue,

	"microsoft.containerservice/managedclusters/listclusterusercredential": listUserCredentials,
}

// Act answers an action: path is the resource's id and the action's name, such
// as .../accounts/models/listKeys (A468, A568).
func Act(s State, path string) Answer {
	path = Clean(path)
	at := strings.LastIndexByte(path, '/')
	id, name := path[:at], path[at+1:]
	act, ok := actions[strings.ToLower(TypeOf(id)+"/"+name)]
	if !ok {
		return refused(refuse(MethodNotAllowed, path, "POST to "+path, strconv.Quote(name), "an action that the simulator knows: "+strings.Join(sortedKeys(actions), ", "), "use another method"))
	}
	r := s.target(id)
	if r == nil {
		return refused(s.missing(id))
	}
	body, err := act(s, r)
	if err != nil {
		return refused(err)
	}
	return Answer{Status: http.StatusOK, Body: body}
}

// DeletedID returns the id under which a resource lived whose soft deletion a path
// names: .../locations/{region}/resourceGroups/{group}/deletedAccounts/{name} for
// a model account (A465), .../locations/{region}/deletedservices/{name} for a
// service of API Management (A502).
func DeletedID(s State, path string) (id string, ok bool) {
	parts := strings.Split(Clean(path), "/")
	switch strings.ToLower(TypeOf(path)) {
	case "microsoft.cognitiveservices/locations/resourcegroups/deletedaccounts":
		return "/subscriptions/" + parts[2] + "/resourceGroups/" + parts[8] + "/providers/Microsoft.CognitiveServices/accounts/" + parts[10], true
	case "microsoft.apimanagement/locations/deletedservices":
		if gone := s.deletedGateway(parts[8]); gone != nil {
			return gone.ID, true
		}
		return path, true
	}
	return "", false
}

// AnswersWhenDone says whether a write to id is answered when it has ended, not
// when it was accepted (A082). Types without a provisioningState always are, or
// nobody could see when they may go on.
func AnswersWhenDone(method Method, id string) bool {
	b := behaviourOf(TypeOf(id))
	return b.plain || b.prompt || b.changesPromptly && method != Put
}
